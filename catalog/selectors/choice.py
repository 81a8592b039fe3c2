"""What a buyer can choose, checked: a lot and term, options, an environment."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from catalog.models import Accelerator, Image, LotPrice, Option, OptionPrice
from catalog.offers import ChosenOption, LotOffer, OptionChoice, OptionOffer
from catalog.selectors.current import current_lot_prices, current_option_prices, require_code, terms
from catalog.stack import StackVerdict, check_image, require_runs
from core.errors import Invalid, Refusal

# More than there are options; keeps a hostile list from becoming a long query.
MAX_OPTION_CHOICES = 50


@dataclass(frozen=True, slots=True)
class ImageVerdict:
    image: Image
    verdict: StackVerdict


def lot_offers(*, accelerator: Accelerator) -> tuple[LotOffer, ...]:
    """What is on sale of an accelerator: every lot and term, few cards and short terms first. 1 query."""
    prices = current_lot_prices().filter(lot__accelerator=accelerator)
    return tuple(_lot_offer(price) for price in prices.order_by("lot__cards", "term__days"))


def lot_offer(*, lot: str, days: int) -> LotOffer:
    """One lot for one term at the current table; a quote records its `price_version`. At most 2 queries.

    Raises Invalid(invalid_text, unknown_term), Refusal(not_on_sale) for a lot unknown, withdrawn or unpriced.
    """
    code = require_code(lot, field="lot")
    price = current_lot_prices().filter(lot__code=code, term__days=days).first()
    if price is not None:
        return _lot_offer(price)
    offered = [term.days for term in terms()]
    if days not in offered:
        raise Invalid(
            code="unknown_term",
            message=_("This term is not offered. Choose one of these numbers of days: %(days)s."),
            field="days",
            params={"days": ", ".join(str(d) for d in offered)},
        )
    raise Refusal(code="not_on_sale", message=_("This lot is not on sale."), field="lot")


def option_offers(*, lot: str, days: int) -> tuple[OptionOffer, ...]:
    """The options that are sold with a lot for a term, at the current table, by name. 1 query."""
    limited = Option.objects.filter(lots__code=require_code(lot, field="lot")).values("pk")
    prices = current_option_prices().filter(
        Q(option__for_all_lots=True) | Q(option__in=limited), term__days=days
    )
    return tuple(_option_offer(price) for price in prices.order_by("option__name", "option__code"))


def chosen_options(*, lot: LotOffer, choices: Sequence[OptionChoice]) -> tuple[ChosenOption, ...]:
    """Check a buyer's choice against what is sold with the lot, at the lot's price table. At most 3 queries.

    Raises Invalid(invalid_text, option_quantity, option_twice, too_many_options) for what no order can hold,
    Refusal(option_unknown, option_not_for_lot, not_on_sale) for what is not sold; `field` is options.N.part.
    """
    if not choices:
        return ()
    _check_form(choices)
    codes = [choice.code for choice in choices]
    options = {o.code: o for o in Option.objects.filter(code__in=codes).prefetch_related("lots")}
    prices = {
        price.option.code: price
        for price in OptionPrice.objects.filter(
            version__number=lot.price_version, term__days=lot.days, option__code__in=codes
        ).select_related("option", "term", "version")
    }
    return tuple(
        _chosen(lot, choice, options.get(choice.code), prices.get(choice.code), field=f"options.{number}")
        for number, choice in enumerate(choices)
    )


def images_for(*, accelerator: Accelerator, node_driver: str | None = None) -> tuple[ImageVerdict, ...]:
    """Every environment on offer with its verdict for a card, those that run first. 1 query."""
    images = Image.objects.filter(on_sale=True).order_by("code")
    verdicts = [ImageVerdict(image, check_image(image, accelerator, node_driver)) for image in images]
    return tuple(sorted(verdicts, key=lambda item: not item.verdict.runs))


def image_for(*, code: str, accelerator: Accelerator, node_driver: str | None = None) -> ImageVerdict:
    """An environment that runs on the card. 1 query.

    Raises Invalid(invalid_text), Refusal(not_on_sale) for an unknown or withdrawn one,
    Refusal(image_incompatible) with every reason.
    """
    image = Image.objects.filter(code=require_code(code, field="image"), on_sale=True).first()
    if image is None:
        raise Refusal(code="not_on_sale", message=_("This environment is not on offer."), field="image")
    return ImageVerdict(image, require_runs(image, accelerator, node_driver))


def _check_form(choices: Sequence[OptionChoice]) -> None:
    if len(choices) > MAX_OPTION_CHOICES:
        raise Invalid(
            code="too_many_options", message=_("These are more options than there are."), field="options"
        )
    seen: set[str] = set()
    for number, choice in enumerate(choices):
        code = require_code(choice.code, field=f"options.{number}.code")
        # Two lines of one option could otherwise pass the bound together, or cancel each other out.
        if code in seen:
            raise Invalid(
                code="option_twice",
                message=_("This option is named twice. Name it once, with its quantity."),
                field=f"options.{number}.code",
            )
        seen.add(code)


def _chosen(
    lot: LotOffer, choice: OptionChoice, option: Option | None, price: OptionPrice | None, *, field: str
) -> ChosenOption:
    if option is None:
        raise Refusal(code="option_unknown", message=_("There is no such option."), field=f"{field}.code")
    if not option.on_sale or price is None:
        raise Refusal(code="not_on_sale", message=_("This option is not on sale."), field=f"{field}.code")
    if not option.for_all_lots and lot.lot_code not in {allowed.code for allowed in option.lots.all()}:
        raise Refusal(
            code="option_not_for_lot",
            message=_("This option is not sold with this lot."),
            field=f"{field}.code",
        )
    if not 1 <= choice.quantity <= option.max_quantity:
        raise Invalid(
            code="option_quantity",
            message=_("The quantity must be between 1 and %(maximum)s."),
            field=f"{field}.quantity",
            params={"maximum": option.max_quantity},
        )
    return ChosenOption(offer=_option_offer(price), quantity=choice.quantity)


def _lot_offer(price: LotPrice) -> LotOffer:
    return LotOffer(
        lot_code=price.lot.code,
        accelerator_slug=price.lot.accelerator.slug,
        accelerator_name=price.lot.accelerator.name,
        cards=price.lot.cards,
        days=price.term.days,
        amount=price.amount,
        list_amount=price.list_amount,
        card_hour_amount=price.card_hour_amount,
        discount=price.discount,
        currency=price.version.currency,
        price_version=price.version.number,
    )


def _option_offer(price: OptionPrice) -> OptionOffer:
    option = price.option
    return OptionOffer(
        code=option.code,
        name=option.name,
        description=option.description,
        needs=option.needs,
        unit=option.unit,
        recurring=option.recurring,
        max_quantity=option.max_quantity,
        days=price.term.days,
        unit_amount=price.amount,
        currency=price.version.currency,
        price_version=price.version.number,
    )
