"""Refunds to a bank card: made at the processor by a worker, verified only when the processor says so."""

import uuid
from datetime import timedelta

from django.db import transaction

from billing import locks
from billing.lifecycle import REFUND, RefundStatus
from billing.models import CardSession, Rail, Refund, RefundMovement
from billing.rails.card_seen import CardRailError, RefundSeen
from billing.rails.cards import card_rail
from billing.services import refund_mail
from billing.services.card_records import note, refund_fact
from billing.services.recompute import recompute
from billing.services.refund import SYSTEM, payload_of
from billing.services.send_refund import verify_locked
from core import audit, claims, clock, decisions, outbox
from core.models import Decision

# A list, a creation and their time-outs (15 s each), and the transaction after them.
CLAIM_SECONDS = 90
# Most refunds are final within seconds; some banks take days.
CHECK_EVERY = timedelta(minutes=10)
LONGEST_PAUSE = 3600
FAILED_KIND, SEND_AGAIN = "card_refund_failed", "send_again"


def send_card_refund(refund_id: int) -> bool:
    """Make a due refund at the processor; True if it is there. One worker by a claim; never twice.

    What the processor already has for this refund is taken over before anything is made. Locks, after the calls, the
    order, the payment's view and the refund.
    """
    token = _claim(refund_id, RefundStatus.DUE)
    if token is None:
        return False
    try:
        row = Refund.objects.get(pk=refund_id)
        try:
            seen = _make(row)
        except CardRailError as error:
            _note_failure(row, token, error)
            return False
        with transaction.atomic():
            refund = _mine(refund_id, token, RefundStatus.DUE)
            if refund is None:
                return False
            refund.card_refund_id, refund.sent_by, refund.last_error = seen.refund_id, SYSTEM, ""
            refund.attempts, refund.next_at = 0, clock.system_now() + CHECK_EVERY
            REFUND.advance(
                refund,
                RefundStatus.SENT,
                order_ref=refund.order.public_id,
                payload=payload_of(refund),
                also=["card_refund_id", "sent_by", "last_error", "attempts", "next_at"],
            )
            refund_mail.sent(refund.order, refund)
            _apply(refund, seen)
        return True
    finally:
        claims.release(Refund.objects.filter(pk=refund_id), token=token)


def check_card_refund(refund_id: int) -> bool:
    """Read a sent refund anew; True once it is verified or has failed. One worker by a claim; safe to repeat."""
    token = _claim(refund_id, RefundStatus.SENT)
    if token is None:
        return False
    try:
        row = Refund.objects.get(pk=refund_id)
        try:
            seen = card_rail().refund_by_id(row.card_refund_id)
        except CardRailError as error:
            _wait(row, token, error.reason)
            return False
        with transaction.atomic():
            refund = _mine(refund_id, token, RefundStatus.SENT)
            if refund is None:
                return False
            refund.attempts, refund.next_at = 0, clock.system_now() + CHECK_EVERY
            refund.save(update_fields=["attempts", "next_at"])
            return _apply(refund, seen)
    finally:
        claims.release(Refund.objects.filter(pk=refund_id), token=token)


def due_refunds(limit: int = 100) -> list[tuple[int, bool]]:
    """Refunds to a card with a step that is due, and whether it is already sent."""
    rows = (
        Refund.objects.filter(
            claims.free(),
            rail=Rail.BANK_CARD,
            status__in=[RefundStatus.DUE, RefundStatus.SENT],
            next_at__lte=clock.system_now(),
        )
        .order_by("next_at")
        .values_list("pk", "status")[:limit]
    )
    return [(pk, status == RefundStatus.SENT) for pk, status in rows]


def _claim(refund_id: int, status: str) -> uuid.UUID | None:
    due = Refund.objects.filter(
        pk=refund_id, rail=Rail.BANK_CARD, status=status, next_at__lte=clock.system_now()
    )
    return claims.claim(due, seconds=CLAIM_SECONDS)


def _mine(refund_id: int, token: uuid.UUID, status: str) -> Refund | None:
    """The locked row, if it is still ours and as it was."""
    refund = locks.refund_for_update(refund_id)
    return refund if refund is not None and (refund.claim_token, refund.status) == (token, status) else None


def _make(row: Refund) -> RefundSeen:
    rail = card_rail()
    earlier = [
        seen for seen in rail.refunds(row.payment_intent) if seen.metadata.get("refund") == str(row.pk)
    ]
    alive = next((seen for seen in earlier if not seen.is_dead), None)
    if alive is not None:
        return alive
    return rail.refund(
        payment_intent=row.payment_intent,
        amount_minor=row.units,
        key=f"refund-{row.pk}-{len(earlier) + 1}-{_times_sent_again(row)}",
        metadata={"refund": str(row.pk)},
    )


def _times_sent_again(row: Refund) -> int:
    """The processor keeps its answer to a key for a day, a refusal too: each time that staff send a refund again it
    needs a new one. A repeat after silence has the same."""
    return Decision.objects.filter(kind=FAILED_KIND, subject=f"refund:{row.pk}", action=SEND_AGAIN).count()


def _apply(refund: Refund, seen: RefundSeen) -> bool:
    """Write what the processor said; the refund is verified by its word, and only for the sum that was decided."""
    session = (
        CardSession.objects.filter(facts__payment_intent=refund.payment_intent, payment=refund.payment)
        .select_related("payment__order")
        .first()
    )
    if session is not None:
        note(refund_fact(session, seen))
    is_whole = (seen.amount_minor, seen.currency) == (refund.units, refund.asset)
    if seen.status == "succeeded" and is_whole:
        verify_locked(
            refund,
            RefundMovement(
                refund=refund,
                rail=Rail.BANK_CARD,
                card_refund_id=seen.refund_id,
                units=seen.amount_minor,
                found_at=clock.now(),
            ),
        )
    elif seen.is_dead or seen.status == "succeeded":
        _fail(refund, seen.reason or seen.status if seen.is_dead else "another sum went back")
    recompute(order_id=refund.order.public_id)
    return refund.status in (RefundStatus.VERIFIED, RefundStatus.FAILED)


def _fail(refund: Refund, reason: str) -> None:
    refund.last_error = reason[:300]
    REFUND.advance(
        refund,
        RefundStatus.FAILED,
        order_ref=refund.order.public_id,
        payload=payload_of(refund),
        also=["last_error"],
    )
    refund_mail.failed(refund.order, refund)
    decisions.open_decision(
        kind=FAILED_KIND,
        subject=f"refund:{refund.pk}",
        order_ref=refund.order.public_id,
        facts={
            "reason": reason,
            "amount_minor": str(refund.units),
            "currency": refund.asset,
            "payment_intent": refund.payment_intent,
        },
    )


def _note_failure(row: Refund, token: uuid.UUID, error: CardRailError) -> None:
    """A refusal is for staff, silence is tried again."""
    if not error.is_final:
        _wait(row, token, error.reason)
        return
    with transaction.atomic():
        refund = _mine(row.pk, token, RefundStatus.DUE)
        if refund is not None:
            _fail(refund, error.reason)


def _wait(row: Refund, token: uuid.UUID, reason: str) -> None:
    attempts = row.attempts + 1
    Refund.objects.filter(pk=row.pk, claim_token=token).update(
        attempts=attempts,
        next_at=clock.system_now() + timedelta(seconds=min(LONGEST_PAUSE, 2**attempts)),
        last_error=reason,
    )


def send_again(*, decision: Decision, actor: str, reason: str) -> None:
    """Staff: try a failed refund to a card once more; the answer to the decision "card_refund_failed".

    Locks the order, the payment's view, the refund, the decision. Raises Conflict(already_done) for the second click.
    """
    with transaction.atomic():
        refund = locks.refund_for_update(int(decision.subject.removeprefix("refund:")))
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action=SEND_AGAIN)
        if refund is None or refund.status != RefundStatus.FAILED:
            return
        refund.attempts, refund.next_at = 0, clock.system_now()
        REFUND.advance(
            refund,
            RefundStatus.DUE,
            order_ref=refund.order.public_id,
            payload=payload_of(refund),
            also=["attempts", "next_at"],
        )
        audit.record(
            actor=actor,
            action="refund.send_again",
            subject=f"refund:{refund.pk}",
            reason=reason,
            before={"status": RefundStatus.FAILED, "last_error": refund.last_error},
            after={"status": refund.status},
        )
        transaction.on_commit(lambda: outbox.hint("billing.send_card_refund", refund.pk))
