"""What was paid by bank card, from what the processor last said of each session, refund and dispute."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from billing import card_amounts
from billing.models import CardFact, CardSession, PaymentRequest
from core import clock

# A dispute in one of these states is over, or was only a question.
_SETTLED_DISPUTES = frozenset(["won", "lost", "warning_closed", "prevented"])
Status = CardSession.Status


@dataclass(frozen=True)
class CardMoney:
    """Minor units of the payment's currency. `pending`: a delayed payment is on its way and still counts as seen;
    `is_open`: a session may still be paid; `refunded_minor`: sent back, by whomever; `problem`: why money that came
    does not count by itself, or empty."""

    amount_minor: int
    paid_minor: int
    pending: bool
    is_open: bool
    disputed: bool
    refunded_minor: int
    problem: str


def card_money(payment: PaymentRequest) -> CardMoney:
    """The card part of a payment. Two queries."""
    return money_of_rows(payment, list(newest(payment)), list(CardSession.objects.filter(payment=payment)))


def money_of_rows(
    payment: PaymentRequest, facts: Sequence[CardFact], sessions: Sequence[CardSession]
) -> CardMoney:
    """The same from rows that were read before: of `facts` the last word on each reference. No query."""
    paid = [fact for fact in facts if is_paid(fact)]
    return CardMoney(
        amount_minor=card_amounts.to_minor(payment.amount, payment.currency),
        paid_minor=sum(fact.amount_minor for fact in paid if not fact.problem),
        pending=any(_is_pending(fact) for fact in facts) and _still_waited_for(payment),
        is_open=any(row.status in (Status.WANTED, Status.OPEN) for row in sessions),
        disputed=any(
            fact.kind == CardFact.Kind.DISPUTE and fact.status not in _SETTLED_DISPUTES for fact in facts
        ),
        refunded_minor=sum(
            fact.amount_minor
            for fact in facts
            if fact.kind == CardFact.Kind.REFUND and fact.status == "succeeded"
        ),
        problem="; ".join(fact.problem for fact in paid if fact.problem),
    )


def newest(payment: PaymentRequest) -> Iterable[CardFact]:
    """The last word on each reference."""
    return (
        CardFact.objects.filter(payment=payment)
        .order_by("kind", "reference", "-id")
        .distinct("kind", "reference")
    )


def is_paid(fact: CardFact) -> bool:
    """Money that the processor has taken from the buyer."""
    return fact.kind == CardFact.Kind.SESSION and fact.payment_status == "paid"


def _is_pending(fact: CardFact) -> bool:
    is_session = fact.kind == CardFact.Kind.SESSION and not fact.problem
    return is_session and fact.status == "complete" and fact.payment_status == "unpaid"


def _still_waited_for(payment: PaymentRequest) -> bool:
    """As long as cards may be kept for money that was seen and is not final (DESIGN rule 3)."""
    return clock.now() < payment.expires_at + timedelta(seconds=settings.RELEASE_LIMIT_SECONDS)
