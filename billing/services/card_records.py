"""Append what the processor said of a payment: once per news. Refunds and disputes that are not ours are decisions."""

from collections.abc import Iterable

from billing.card_facts import newest
from billing.lifecycle import RefundStatus
from billing.models import CardFact, CardSession, Refund
from billing.rails.card_seen import DisputeSeen, RefundSeen
from core import clock, decisions

_COMPARED = ("payment_intent", "status", "payment_status", "amount_minor", "currency", "livemode", "problem")


def note(fact: CardFact) -> CardFact | None:
    """Write the fact if it differs from the last one on its reference. Must run under the lock on the order."""
    last = next(
        (row for row in newest(fact.payment) if (row.kind, row.reference) == (fact.kind, fact.reference)),
        None,
    )
    if last is not None and all(getattr(last, name) == getattr(fact, name) for name in _COMPARED):
        return None
    fact.read_at = clock.now()
    fact.save(force_insert=True)
    return fact


def note_backs(session: CardSession, refunds: Iterable[RefundSeen], disputes: Iterable[DisputeSeen]) -> None:
    """Refunds and disputes of one paid session. Must run under the lock on the order."""
    ours = set(Refund.objects.filter(payment=session.payment).values_list("card_refund_id", flat=True))
    under_way = {
        str(pk)
        for pk in Refund.objects.filter(payment=session.payment, status=RefundStatus.DUE).values_list(
            "pk", flat=True
        )
    }
    for refund in refunds:
        if refund.refund_id not in ours and refund.metadata.get("refund") in under_way:
            continue  # made a moment ago: whoever made it writes it together with its id
        is_news = note(refund_fact(session, refund)) is not None
        if is_news and refund.refund_id not in ours:
            _decide(session, "card_refunded_elsewhere", refund.refund_id, refund)
    for dispute in disputes:
        if note(_dispute_fact(session, dispute)) is not None:
            _decide(session, "card_dispute", dispute.dispute_id, dispute)


def _decide(session: CardSession, kind: str, reference: str, seen: RefundSeen | DisputeSeen) -> None:
    decisions.open_decision(
        kind=kind,
        subject=f"card:{reference}",
        order_ref=session.payment.order.public_id,
        facts={
            "reference": reference,
            "status": seen.status,
            "amount_minor": str(seen.amount_minor),
            "currency": seen.currency,
            "order_status": session.payment.order.status,
        },
    )


def refund_fact(session: CardSession, seen: RefundSeen) -> CardFact:
    """A refund as it was read, not written yet."""
    return CardFact(
        payment=session.payment,
        session=session,
        kind=CardFact.Kind.REFUND,
        reference=seen.refund_id,
        payment_intent=seen.payment_intent,
        status=seen.status,
        amount_minor=seen.amount_minor,
        currency=seen.currency,
        livemode=_livemode(session),
    )


def _dispute_fact(session: CardSession, seen: DisputeSeen) -> CardFact:
    return CardFact(
        payment=session.payment,
        session=session,
        kind=CardFact.Kind.DISPUTE,
        reference=seen.dispute_id,
        payment_intent=seen.payment_intent,
        status=seen.status,
        amount_minor=seen.amount_minor,
        currency=seen.currency,
        livemode=seen.livemode,
    )


def _livemode(session: CardSession) -> bool:
    """A refund does not say it; it is of its session's kind."""
    last = CardFact.objects.filter(session=session, kind=CardFact.Kind.SESSION).order_by("-id").first()
    return bool(last and last.livemode)
