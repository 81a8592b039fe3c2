"""Reads of bank-card payments for pages: what a buyer can do now, and what was paid."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from billing import card_amounts, card_offer
from billing.card_facts import money_of_rows
from billing.lifecycle import PaymentStatus
from billing.models import CardFact, CardSession, PaymentRequest, PaymentView
from billing.selectors import status_by_clock
from billing.services.want_card_session import SESSIONS_PER_ORDER, session_end
from core import clock
from orders.lifecycle import OrderStatus
from orders.models import Order

Status = CardSession.Status


class Link(StrEnum):
    """How far the way to the processor's page is."""

    NONE = "none"
    OPENING = "opening"
    OPEN = "open"
    FAILED = "failed"
    ENDED = "ended"


@dataclass(frozen=True)
class CardState:
    """`is_only`: no deposit address was issued, a card is the only way. `url` is checked, empty unless the link is
    open. `pending`: a delayed payment is on its way. `differs`: money came that does not agree with what was asked."""

    is_only: bool
    amount: Decimal
    currency: str
    paid: Decimal
    pending: bool
    differs: bool
    link: Link
    url: str
    ends_at: datetime | None
    may_start: bool
    is_demo: bool

    @property
    def mark(self) -> str:
        """Changes when the page must be drawn anew."""
        return f"{self.link} {self.url} {self.pending} {self.paid} {self.differs} {self.may_start}"


def card_of_rows(
    order: Order, view: PaymentView, sessions: Sequence[CardSession], facts: Sequence[CardFact]
) -> CardState | None:
    """The card part of an order, or None where it has none and none is offered. From rows: sessions by attempt, of
    facts the last word on each reference. No query."""
    payment = view.payment
    session = sessions[-1] if sessions else None
    if session is None and not _is_payable(order, payment):
        return None
    offered = card_offer.card_is_offered(payment.amount, payment.currency)
    money = money_of_rows(payment, facts, sessions)
    link = _link(session)
    waits = (
        order.status == OrderStatus.AWAITING_PAYMENT
        and status_by_clock(view) == PaymentStatus.AWAITING
        and view.received_units == 0
    )
    used_up = session is not None and session.attempt >= SESSIONS_PER_ORDER
    return CardState(
        is_only=not payment.takes_crypto,
        amount=payment.amount,
        currency=payment.currency,
        paid=card_amounts.to_amount(money.paid_minor, payment.currency),
        pending=money.pending,
        differs=bool(money.problem),
        link=link,
        url=session.url if session is not None and link == Link.OPEN else "",
        ends_at=session.expires_at if session is not None else None,
        may_start=waits and offered and not used_up and session_end(order) is not None,
        is_demo=card_offer.is_demo_card(),
    )


def _is_payable(order: Order, payment: PaymentRequest) -> bool:
    """Whether a card might pay an order that has no session."""
    waits = order.status == OrderStatus.AWAITING_PAYMENT
    return waits and card_offer.card_is_offered(payment.amount, payment.currency)


def _link(session: CardSession | None) -> Link:
    if session is None:
        return Link.NONE
    if session.status in (Status.WANTED, Status.OPEN) and session.expires_at <= clock.now():
        return Link.ENDED
    if session.status == Status.OPEN:
        return Link.OPEN if card_offer.is_checkout_address(session.url) else Link.FAILED
    return {Status.WANTED: Link.OPENING, Status.FAILED: Link.FAILED}.get(Status(session.status), Link.ENDED)
