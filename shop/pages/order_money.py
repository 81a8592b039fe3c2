"""What the page of an order says of money that goes back, and of the choice that late money leaves to the buyer."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from billing import offers
from billing.lifecycle import PaymentStatus, RefundStatus
from billing.models import Rail, Refund
from billing.order_rows import OrderRows
from billing.selectors import PaymentState
from billing.services.refund import amount_of
from billing.services.refund_destination import CHANGEABLE
from core import clock
from orders.lifecycle import OrderStatus
from orders.models import Order


@dataclass(frozen=True)
class RefundLine:
    """One refund in words. `asks_address`: nothing can be sent before the buyer has named one."""

    pk: int
    amount: Decimal
    asset: str
    network: str
    why: str
    badge: str
    tone: str
    icon: str
    is_card: bool
    destination: str
    tx_hash: str
    link: str
    asks_address: bool
    may_change: bool
    is_done: bool
    reason: str


@dataclass(frozen=True)
class MoneyPart:
    """`offered_until`: a lot is kept for the choice; `looks_for_lot`: none is free, and the refund can be taken."""

    refunds: tuple[RefundLine, ...]
    offered_until: datetime | None
    looks_for_lot: bool
    credited: Decimal
    currency: str

    @property
    def sent_by_staff(self) -> bool:
        """Whether a person has yet to send something; a bank card is credited by the processor."""
        return any(not line.is_done and not line.is_card for line in self.refunds)

    @property
    def is_settled(self) -> bool:
        """Whether it is decided, or the buyer's to decide, what happens with money that came late."""
        return bool(self.refunds) or self.looks_for_lot or self.offered_until is not None

    @property
    def credit_waits(self) -> bool:
        """Whether there is a credit that no refund covers yet."""
        return bool(self.credited) and not self.gives_back(Refund.Reason.CREDIT)

    def gives_back(self, *reasons: str) -> bool:
        """Whether a refund was opened for one of these reasons."""
        return any(line.reason in reasons for line in self.refunds)


def money_part(rows: OrderRows, payment: PaymentState | None) -> MoneyPart | None:
    """The part, or None where nothing goes back and nothing is to be chosen. No query."""
    order = rows.order
    refunds = tuple(_line(row) for row in rows.refunds)
    offered = order.offered_until if _is_open(order) else None
    looks = offered is None and not refunds and _looks_for_lot(rows, payment)
    if not refunds and offered is None and not looks and not rows.credited:
        return None
    return MoneyPart(
        refunds=refunds,
        offered_until=offered,
        looks_for_lot=looks,
        credited=rows.credited,
        currency=order.quote.currency,
    )


def refund_line(row: Refund) -> RefundLine:
    """One refund, for the page that asks for its address."""
    return _line(row)


def _is_open(order: Order) -> bool:
    is_over = order.offered_until is None or clock.now() >= order.offered_until
    return order.status == OrderStatus.EXPIRED and not is_over


def _looks_for_lot(rows: OrderRows, payment: PaymentState | None) -> bool:
    if rows.order.status != OrderStatus.EXPIRED or payment is None:
        return False
    full = payment.status == PaymentStatus.SETTLED or payment.settled >= payment.amount > 0
    return full and rows.had_no_capacity


def _line(row: Refund) -> RefundLine:
    network = offers.networks().get(row.network)
    badge, tone, icon = _badge(row)
    is_card = row.rail == Rail.BANK_CARD
    explorer = network.explorer if network else None
    return RefundLine(
        pk=row.pk,
        amount=amount_of(row),
        asset=row.asset,
        network=network.name if network else row.network,
        why=_why(row.reason),
        badge=badge,
        tone=tone,
        icon=icon,
        is_card=is_card,
        destination=row.destination,
        tx_hash=row.tx_hash,
        link=f"{explorer}/tx/{row.tx_hash}" if explorer and row.tx_hash else "",
        asks_address=row.status == RefundStatus.ADDRESS_NEEDED,
        may_change=not is_card and row.status in CHANGEABLE and row.status != RefundStatus.ADDRESS_NEEDED,
        is_done=row.status == RefundStatus.VERIFIED,
        reason=row.reason,
    )


def _badge(row: Refund) -> tuple[str, str, str]:
    if row.status == RefundStatus.FAILED:
        return _("Not arrived, to be sent again"), "warn", "clock"
    return {
        RefundStatus.ADDRESS_NEEDED: (_("Your address is needed"), "warn", "warn"),
        RefundStatus.DUE: (_("To be sent"), "info", "clock"),
        RefundStatus.SENT: (_("Sent, not confirmed yet"), "info", "half"),
        RefundStatus.VERIFIED: (pgettext("refund", "Arrived"), "good", "check"),
    }[RefundStatus(row.status)]


def _why(reason: str) -> str:
    words = {
        Refund.Reason.CANCELLED: _("The order was cancelled."),
        Refund.Reason.NOT_DELIVERED: _("The order could not be delivered."),
        Refund.Reason.LATE_DELIVERY: _("The delivery was late."),
        Refund.Reason.EARLY_END: _("Unused days after your early end."),
        Refund.Reason.EXTENSION_FAILED: _("The extension could not be made."),
        Refund.Reason.NO_CAPACITY: _("No cards were left for this order."),
        Refund.Reason.LATE_MONEY: _("The money came after the time was up."),
        Refund.Reason.EXCESS: _("More arrived than was asked."),
        Refund.Reason.PARTIAL: _("Less arrived than was asked."),
        Refund.Reason.WRONG_ASSET: _("Another asset arrived."),
        Refund.Reason.WRONG_NETWORK: _("Money arrived on another network."),
        Refund.Reason.PAID_TWICE: _("The order was paid twice."),
        Refund.Reason.SCREENING: _("The payment could not be accepted."),
        Refund.Reason.CREDIT: _("Credit for time without your cards."),
        Refund.Reason.BY_HAND: _("A person decided so."),
    }
    return words.get(Refund.Reason(reason), "")
