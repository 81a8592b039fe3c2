"""What a buyer can choose of an accelerator: lots and terms, environments; options, checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from catalog.models import Accelerator, Image, Lot, LotPrice, Option, OptionPrice
from catalog.offers import ChosenOption, LotOffer, OptionChoice, OptionOffer
from catalog.selectors.current import current_lot_prices, current_option_prices, require_code, terms
from catalog.stack import StackVerdict, check_image
from core.errors import Invalid, Refusal
from core.joined import read_rows, rows_of

# More than there are options; keeps a hostile list from becoming a long query.
MAX_OPTION_CHOICES = 50


@dataclass(frozen=True, slots=True)
class ImageVerdict:
    image: Image
    verdict: StackVerdict


def lot_offers(*, accelerator: Accelerator) -> tuple[LotOffer, ...]:
    """What is on sale of an accelerator: every lot and term, few cards and short terms first. 1 query."""
    prices = current_lot_prices().filter(lot__accelerator=accelerator)
    return tuple(lot_offer_of(price) for price in prices.order_by("lot__cards", "term__days"))


def lot_offer(*, lot: str, days: int) -> LotOffer:
    """One lot for one term at the current table; a quote records its `price_version`. At most 2 queries.

    Raises Invalid(invalid_text, unknown_term), Refusal(not_on_sale) for a lot unknown, withdrawn or unpriced.
    """
    code = require_code(lot, field="lot")
    price = current_lot_prices().filter(lot__code=code, term__days=days).first()
    if price is None:
        raise not_offered(days=days, offered=[term.days for term in terms()])
    return lot_offer_of(price)


def not_offered(*, days: int, offered: Sequence[int]) -> Refusal:
    """Why a lot has no price for a term."""
    if days in offered:
        return Refusal(code="not_on_sale", message=_("This lot is not on sale."), field="lot")
    return Invalid(
        code="unknown_term",
        message=_("This term is not offered. Choose one of these numbers of days: %(days)s."),
        field="days",
        params={"days": ", ".join(str(known) for known in offered)},
    )


def option_offers(*, lot: str, days: int) -> tuple[OptionOffer, ...]:
    """The options that are sold with a lot for a term, at the current table, by name. 1 query."""
    limited = Option.objects.filter(lots__code=require_code(lot, field="lot")).values("pk")
    prices = current_option_prices().filter(
        Q(option__for_all_lots=True) | Q(option__in=limited), term__days=days
    )
    return tuple(option_offer_of(price) for price in prices.order_by("option__name", "option__code"))


def chosen_options(*, lot: LotOffer, choices: Sequence[OptionChoice]) -> tuple[ChosenOption, ...]:
    """Check a buyer's choice against what is sold with the lot, at the lot's price table. At most 1 query.

    Raises Invalid(invalid_text, option_quantity, option_twice, too_many_options) for what no order can hold,
    Refusal(option_unknown, option_not_for_lot, not_on_sale) for what is not sold; `field` is options.N.part.
    """
    if not choices:
        return ()
    return options_from(lot=lot, choices=choices, sheet=option_sheet(lots=[lot], choices=choices))


@dataclass(frozen=True, slots=True)
class OptionSheet:
    """Some options by code, the lots that each is sold with, and prices by code, days and number of the table."""

    options: Mapping[str, Option]
    lot_codes: Mapping[str, frozenset[str]]
    prices: Mapping[tuple[str, int, int], OptionPrice]


def option_sheet(*, lots: Sequence[LotOffer], choices: Sequence[OptionChoice]) -> OptionSheet:
    """What `options_from` needs for several lots or terms. 1 query, none without choices.

    Raises Invalid(invalid_text, option_twice, too_many_options).
    """
    if not choices or not lots:
        return OptionSheet({}, {}, {})
    _check_form(choices)
    return _sheet(
        Option.objects.filter(code__in=[choice.code for choice in choices]),
        OptionPrice.objects.filter(
            version__number__in={lot.price_version for lot in lots}, term__days__in={lot.days for lot in lots}
        ),
    )


def whole_sheet(*, price_version: int) -> OptionSheet:
    """The same of all options and one price table. 1 query."""
    return _sheet(Option.objects.all(), OptionPrice.objects.filter(version__number=price_version))


def _sheet(options: QuerySet[Option], prices: QuerySet[OptionPrice]) -> OptionSheet:
    found = options.annotate(
        lot_codes=ArraySubquery(Lot.objects.filter(options=OuterRef("pk")).values("code")),
        joined_prices=rows_of(prices.filter(option=OuterRef("pk")), also=["term", "version"]),
    )
    known, codes, sold = {}, {}, {}
    for option in found:
        known[option.code], codes[option.code] = option, frozenset(option.lot_codes)
        for price in read_rows(OptionPrice, option.joined_prices):
            price.option = option
            sold[(option.code, price.term.days, price.version.number)] = price
    return OptionSheet(known, codes, sold)


def options_from(
    *, lot: LotOffer, choices: Sequence[OptionChoice], sheet: OptionSheet
) -> tuple[ChosenOption, ...]:
    """As chosen_options, from what was read before. No query."""
    _check_form(choices)
    return tuple(
        _chosen(
            lot,
            choice,
            sheet.options.get(choice.code),
            sheet.prices.get((choice.code, lot.days, lot.price_version)),
            sheet.lot_codes.get(choice.code, frozenset()),
            field=f"options.{number}",
        )
        for number, choice in enumerate(choices)
    )


def images_for(*, accelerator: Accelerator, node_driver: str | None = None) -> tuple[ImageVerdict, ...]:
    """Every environment on offer with its verdict for a card, those that run first. 1 query."""
    images = Image.objects.filter(on_sale=True).order_by("code")
    verdicts = [ImageVerdict(image, check_image(image, accelerator, node_driver)) for image in images]
    return tuple(sorted(verdicts, key=lambda item: not item.verdict.runs))


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
    lot: LotOffer,
    choice: OptionChoice,
    option: Option | None,
    price: OptionPrice | None,
    lot_codes: frozenset[str],
    *,
    field: str,
) -> ChosenOption:
    if option is None:
        raise Refusal(code="option_unknown", message=_("There is no such option."), field=f"{field}.code")
    if not option.on_sale or price is None:
        raise Refusal(code="not_on_sale", message=_("This option is not on sale."), field=f"{field}.code")
    if not option.for_all_lots and lot.lot_code not in lot_codes:
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
    return ChosenOption(offer=option_offer_of(price), quantity=choice.quantity)


def lot_offer_of(price: LotPrice) -> LotOffer:
    """A price row as what pricing works on. No query where lot, accelerator, term and version are selected."""
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


def option_offer_of(price: OptionPrice) -> OptionOffer:
    """The same for a price of an option."""
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
