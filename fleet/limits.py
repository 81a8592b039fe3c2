"""Bounds on unpaid holds: by opaque owner and by network prefix, never by mail address (DESIGN rule 5)."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet, Sum
from django.utils.translation import gettext_lazy as _

from core.errors import Refusal, TooMany
from fleet.models import Hold


@dataclass(frozen=True)
class HoldLimits:
    """What one owner may keep unpaid. `orders_per_prefix` None: the prefix rule does not apply (partners)."""

    orders_per_owner: int
    cards_per_owner: int
    orders_per_prefix: int | None


def unpaid_holds(moment: datetime) -> QuerySet[Hold]:
    """Holds that are open and not past their release."""
    return Hold.objects.filter(committed_at=None, released_at=None, release_at__gt=moment)


def check_order_size(*, card_count: int, limits: HoldLimits) -> None:
    """A single order over the card limit can never be placed: 422 at the quote already."""
    if card_count > limits.cards_per_owner:
        raise Refusal(
            code="too_many_cards",
            message=_("One order can take up to %(limit)s cards."),
            field="lots",
            params={"limit": limits.cards_per_owner},
        )


def check_owner(*, owner: str, prefix: str, card_count: int, limits: HoldLimits, moment: datetime) -> None:
    """Orders and cards of this owner and orders of this prefix. The caller holds both advisory locks."""
    open_holds = unpaid_holds(moment)
    own = open_holds.filter(owner=owner).aggregate(orders=Count("pk"), cards=Sum("card_count"))
    over_owner = own["orders"] >= limits.orders_per_owner
    over_cards = (own["cards"] or 0) + card_count > limits.cards_per_owner
    over_prefix = (
        bool(prefix)
        and limits.orders_per_prefix is not None
        and open_holds.filter(prefix=prefix).count() >= limits.orders_per_prefix
    )
    if over_owner or over_cards or over_prefix:
        raise _too_many()


def check_share(
    *,
    prefix: str,
    accelerator_id: int,
    card_count: int,
    free_cards: int,
    moment: datetime,
    limits: HoldLimits,
) -> None:
    """Unpaid holds of one prefix take at most half of an accelerator's free cards, but always one order."""
    if limits.orders_per_prefix is None or not prefix:
        return
    held = (
        unpaid_holds(moment)
        .filter(prefix=prefix, lot__accelerator_id=accelerator_id)
        .aggregate(cards=Sum("card_count"))["cards"]
        or 0
    )
    if held and (held + card_count) * 2 > held + free_cards:
        raise _too_many()


def _too_many() -> TooMany:
    return TooMany(
        code="too_many_holds",
        message=_("You already hold cards that are not paid. Pay or cancel that order first."),
    )
