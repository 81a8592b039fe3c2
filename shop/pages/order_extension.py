"""What the page of an order says of more time, of less time and of a late delivery; and the words of an extension."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from billing.card_offer import card_is_offered, is_demo_card
from billing.early_end_amount import EarlyEnd, early_end_amount
from billing.offers import crypto_offers
from billing.order_rows import OrderRows
from billing.services.checkout import anonymous_limits
from core import clock
from core.errors import Refusal
from core.formats import instant_text
from fleet import extensions
from fleet.lease_rows import LeaseRows
from fleet.lifecycle import OPEN_STATES, PREPARATION_STATES
from fleet.models import Lease
from fleet.periods import DAY_SECONDS
from fleet.services.deadlines import last_ready_moment
from fleet.services.end_early import REASON as EARLY_END
from orders.lifecycle import OrderStatus
from orders.models import Order
from orders.services.extend import prices_today
from shop.forms.checkout import CARD_VALUE, choice_value
from shop.pages.phase import Phase
from shop.pages.wording import Words


@dataclass(frozen=True)
class TermChoice:
    """One length that the term can go on for. `taken_from`: the cards are promised to somebody else before its end."""

    days: int
    amount: Decimal
    currency: str
    ends_at: datetime
    taken_from: datetime | None


@dataclass(frozen=True)
class ExtensionRow:
    """One extension of this lease with its state in words."""

    order: Order
    badge: str
    tone: str
    icon: str


@dataclass(frozen=True)
class ExtensionPart:
    """`first`: this order is an extension of that one. `refusal`: why the term cannot be made longer now."""

    order: Order
    first: Order | None
    lease: Lease | None
    rows: tuple[ExtensionRow, ...]
    waiting: Order | None
    is_running: bool
    refusal: str
    late_until: datetime | None
    ended_early: EarlyEnd | None
    room_until: datetime | None

    @cached_property
    def choices(self) -> tuple[TermChoice, ...]:
        """Today's prices; the table is asked when the page draws them, not at every look for news."""
        return _choices(self.order, self.lease, self.room_until) if self.lease is not None else ()

    @cached_property
    def is_possible(self) -> bool:
        """Whether at least one length is free."""
        return any(choice.taken_from is None for choice in self.choices)

    @cached_property
    def ways(self) -> list[dict[str, Any]]:
        """What can be paid with now: value, asset, network."""
        return [
            {"value": choice_value(offer), "asset": offer.asset, "network": offer.network}
            for offer in crypto_offers()
        ]

    @cached_property
    def card_value(self) -> str:
        """The bank card among the ways of paying, where each of the sums can be charged to one."""
        sums = [choice for choice in self.choices if choice.taken_from is None]
        offered = bool(sums) and all(card_is_offered(choice.amount, choice.currency) for choice in sums)
        return CARD_VALUE if offered else ""

    @property
    def is_demo_card(self) -> bool:
        return is_demo_card()

    @cached_property
    def early_end(self) -> EarlyEnd:
        """What would come back now."""
        if self.lease is None:
            raise ValueError("This order has no lease.")
        return early_end_amount(
            self.order, self.lease, at=clock.now(), extensions=[row.order for row in self.rows]
        )


def extension_part(found: OrderRows, lease_found: LeaseRows | None) -> ExtensionPart | None:
    """The part, or None before there is a lease. No query; up to four where a running term is drawn."""
    order, moment = found.order, clock.now()
    if order.extends is not None:
        return ExtensionPart(order, order.extends, None, (), None, False, "", None, None, None)
    if lease_found is None:
        return None
    lease = lease_found.lease
    rows = tuple(_row(row) for row in found.extensions)
    is_running = lease.status in OPEN_STATES and lease.ends_at is not None and moment < lease.ends_at
    is_late = lease.status in PREPARATION_STATES and lease.late_at is not None
    return ExtensionPart(
        order=order,
        first=None,
        lease=lease,
        rows=rows,
        waiting=next((row.order for row in rows if row.order.status == OrderStatus.AWAITING_PAYMENT), None),
        is_running=is_running,
        refusal=_refusal(lease_found, moment) if is_running else "",
        late_until=last_ready_moment(lease) if is_late else None,
        ended_early=_ended_early(order, lease, rows),
        room_until=lease_found.room_until,
    )


def words_of_order(words: Words, order: Order, phase: Phase, *, is_reversed: bool) -> Words:
    """The words of a phase, or those of an extension where they differ. `is_reversed`: its money was taken back."""
    if order.extends is None:
        return words
    if phase == Phase.FAILED:
        return _failed(is_reversed=is_reversed)
    maker = _WORDS.get(phase)
    return _before(words, order, phase) if maker is None else maker(order)


def steps_of_extension(order: Order) -> list[tuple[str, str, str, datetime | None]]:
    """Name, title, note and time of what follows the payment of an extension."""
    return [
        ("added", pgettext("extension", "Added"), _("the end of your term moves"), order.active_at),
        ("end", pgettext("step", "End"), _("with the lease"), order.ended_at),
    ]


def _choices(order: Order, lease: Lease, room: datetime | None) -> tuple[TermChoice, ...]:
    if lease.ends_at is None:
        return ()
    found = []
    for days, priced in prices_today(order, limits=anonymous_limits()).items():
        is_free = room is None or extensions.new_upper(lease.ends_at, days * DAY_SECONDS) <= room
        found.append(
            TermChoice(
                days=days,
                amount=priced.total,
                currency=priced.currency,
                ends_at=extensions.end_after(lease.ends_at, days * DAY_SECONDS),
                taken_from=None if is_free else room,
            )
        )
    return tuple(found)


def _ended_early(order: Order, lease: Lease, rows: tuple[ExtensionRow, ...]) -> EarlyEnd | None:
    if lease.end_reason != EARLY_END or lease.ending_at is None:
        return None
    return early_end_amount(order, lease, at=lease.ending_at, extensions=[row.order for row in rows])


def _refusal(found: LeaseRows, moment: datetime) -> str:
    try:
        extensions.require_extendable(found.lease, moment, is_joining=found.is_joining)
    except Refusal as refusal:
        return refusal.text
    return ""


def _row(order: Order) -> ExtensionRow:
    badge, tone, icon = {
        OrderStatus.AWAITING_PAYMENT: (_("Waiting for payment"), "info", "clock"),
        OrderStatus.PAID: (_("Paid, being added"), "info", "half"),
        OrderStatus.ACTIVE: (_("Part of the term"), "good", "check"),
        OrderStatus.ENDED: (pgettext("extension", "Ended"), "", "ring"),
        OrderStatus.EXPIRED: (_("Not paid in time"), "", "ring"),
        OrderStatus.CANCELLED: (pgettext("extension", "Cancelled"), "", "ring"),
        OrderStatus.FAILED: (_("Not possible"), "bad", "stop"),
    }.get(OrderStatus(order.status), (order.status, "", "ring"))
    return ExtensionRow(order, badge, tone, icon)


def _before(words: Words, order: Order, phase: Phase) -> Words:
    """Before the money is there, or where it never comes: the lease itself is not touched."""
    if phase == Phase.PAYING:
        lede = _(
            "More days of your lease are kept for you until %(time)s; unpaid, its end stays as it is."
        ) % {"time": instant_text(order.hold_expires_at, style="sentence")}
        return replace(words, lede=lede)
    if phase == Phase.CANCELLED and order.paid_at is None:
        return replace(words, lede=_("Your lease goes on to the end that it had. Nothing was charged."))
    return words


def _adding(order: Order) -> Words:
    return Words(
        heading=_("Your extension is paid"),
        badge=_("Being added"),
        tone="info",
        icon="half",
        lede=_(
            "The payment is final. The end of your term moves as soon as the machine has confirmed it, usually within "
            "seconds. If that is not possible by the end as it stands, all of it is due back to you."
        ),
    )


def _active(order: Order) -> Words:
    return Words(
        heading=_("Your term is longer now"),
        badge=_("Part of the term"),
        tone="good",
        icon="check",
        lede=_("This extension is part of your lease. Login, cards and data are as before."),
    )


def _ended(order: Order) -> Words:
    at = order.ended_at
    return Words(
        heading=_("The term has ended"),
        badge=pgettext("extension", "Ended"),
        tone="",
        icon="ring",
        lede=_("The lease that this extension was part of is over since %(time)s.")
        % {"time": instant_text(at, style="sentence")}
        if at
        else _("The lease that this extension was part of is over."),
    )


def _failed(*, is_reversed: bool) -> Words:
    lede = _("The end before it stands. All that you paid for this extension is due back to you.")
    if is_reversed:
        lede = _("The network took back your transfer. The end before this extension stands.")
    return Words(
        heading=_("The extension was not possible"),
        badge=pgettext("extension", "Failed"),
        tone="bad",
        icon="stop",
        lede=lede,
    )


_WORDS = {
    Phase.FINAL: _adding,
    Phase.PREPARING: _adding,
    Phase.ACTIVE: _active,
    Phase.ENDING: _ended,
    Phase.ENDED: _ended,
}
