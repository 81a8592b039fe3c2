"""Bounds on unpaid holds: by opaque owner and by network prefix, never by mail address (DESIGN rule 5)."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core.errors import Refusal, TooMany
from fleet.models import Hold
from fleet.unpaid import Unpaid


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
            message=ngettext_lazy(
                "One order can take up to %(limit)s card.",
                "One order can take up to %(limit)s cards.",
                "limit",
            ),
            field="lots",
            params={"limit": limits.cards_per_owner},
        )


def check_owner(*, owner: str, prefix: str, card_count: int, limits: HoldLimits, moment: datetime) -> None:
    """Orders and cards of this owner and orders of this prefix. The caller holds both advisory locks."""
    own, near = Q(owner=owner), Q(prefix=prefix)
    found = unpaid_holds(moment).aggregate(
        owner_orders=Count("pk", filter=own),
        owner_cards=Sum("card_count", filter=own, default=0),
        prefix_orders=Count("pk", filter=near),
    )
    _check(card_count=card_count, limits=limits, prefix=prefix, **found)


def check_unpaid(*, unpaid: Unpaid, prefix: str, card_count: int, limits: HoldLimits) -> None:
    """The same for counts that were read under both advisory locks already."""
    _check(
        owner_orders=unpaid.owner_orders,
        owner_cards=unpaid.owner_cards,
        prefix_orders=unpaid.prefix_orders,
        card_count=card_count,
        limits=limits,
        prefix=prefix,
    )


def _check(
    *,
    owner_orders: int,
    owner_cards: int,
    prefix_orders: int,
    card_count: int,
    limits: HoldLimits,
    prefix: str,
) -> None:
    over_owner = owner_orders >= limits.orders_per_owner
    over_cards = owner_cards + card_count > limits.cards_per_owner
    over_prefix = (
        bool(prefix) and limits.orders_per_prefix is not None and prefix_orders >= limits.orders_per_prefix
    )
    if over_owner or over_cards or over_prefix:
        raise _too_many()


def check_share(*, unpaid: Unpaid, prefix: str, card_count: int, free_cards: int, limits: HoldLimits) -> None:
    """Unpaid holds of one prefix take at most half of what an accelerator has free, but always one order.

    `free_cards` are those that are free now; together with what the prefix holds they are the whole.
    """
    if limits.orders_per_prefix is None or not prefix:
        return
    held = unpaid.prefix_cards
    if held and (held + card_count) * 2 > held + free_cards:
        raise _too_many()


def _too_many() -> TooMany:
    return TooMany(
        code="too_many_holds",
        message=_("You already hold cards that are not paid. Pay or cancel that order first."),
    )
