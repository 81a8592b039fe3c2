"""Staff have sent a refund from their own wallet: the hash is recorded, a worker checks it on chain."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing import locks
from billing.legs import left_on, legs_of
from billing.lifecycle import REFUND, RefundStatus
from billing.models import PaymentView, Rail, Refund, RefundMovement
from billing.services import refund_mail, refund_questions
from billing.services.claim import clean_hash
from billing.services.issue_invoice import issue_credit_note
from billing.services.refund import payload_of
from core import audit, clock, decisions, outbox
from core.errors import Conflict, Invalid, NotFound
from core.models import Decision

WAITS_FOR_STAFF = frozenset({RefundStatus.DUE, RefundStatus.FAILED})


def resolve_sent(*, decision: Decision, actor: str, reason: str, transaction_hash: str) -> None:
    """The decision's button: enter the hash. Raises what `mark_sent` raises and Conflict(already_done)."""
    with transaction.atomic():
        mark_sent(
            refund_id=int(decision.subject.removeprefix("refund:")),
            actor=actor,
            reason=reason,
            transaction_hash=transaction_hash,
            decision=decision,
        )


def mark_sent(
    *, refund_id: int, actor: str, reason: str, transaction_hash: str, decision: Decision | None = None
) -> Refund:
    """Record that a refund was sent with this transaction. Nothing counts as returned until a worker has seen it.

    Locks the order, the view of its payment, the refund, last the decision. Raises Invalid(invalid_hash),
    Conflict(already_done) where it is not waiting, Conflict(money_gone) where its chain took the money back
    meanwhile. One transaction may serve several refunds, each by a transfer of its own.
    """
    cleaned = clean_hash(transaction_hash)
    if not cleaned:
        raise Invalid(
            code="invalid_hash",
            message=_("Enter the hash of the transaction that sent the refund."),
            field="transaction_hash",
        )
    with transaction.atomic():
        row = _waiting(refund_id)
        before = {"status": row.status, "transaction_hash": row.tx_hash}
        if decision is not None:
            decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="sent")
        else:
            refund_questions.close_sending(row, reason="it was sent")
        if row.status == RefundStatus.FAILED:
            REFUND.advance(row, RefundStatus.DUE, order_ref=row.order.public_id, payload=payload_of(row))
        row.tx_hash = cleaned
        row.sent_by = actor
        row.last_error = ""
        row.attempts = 0
        row.next_at = clock.system_now()
        REFUND.advance(
            row,
            RefundStatus.SENT,
            order_ref=row.order.public_id,
            payload=payload_of(row),
            also=["tx_hash", "sent_by", "last_error", "attempts", "next_at"],
        )
        audit.record(
            actor=actor,
            action="refund.sent",
            subject=f"refund:{row.pk}",
            reason=reason,
            before=before,
            after={"status": row.status, "transaction_hash": cleaned},
        )
        refund_mail.sent(row.order, row)
        transaction.on_commit(lambda: outbox.hint("billing.verify_refund", row.pk))
    return row


def _waiting(refund_id: int) -> Refund:
    row = locks.refund_for_update(refund_id)
    if row is None or row.rail != Rail.CRYPTO:
        raise NotFound(code="not_found", message=_("There is no such refund."))
    if row.status == RefundStatus.ADDRESS_NEEDED:
        raise Conflict(code="address_needed", message=_("The buyer has not confirmed an address yet."))
    if row.status not in WAITS_FOR_STAFF:
        raise Conflict(code="already_done", message=_("This is already done."))
    _check_money(row)
    return row


def _check_money(row: Refund) -> None:
    """Refunds of a leg never pass what was received on it, also where that has become less since."""
    view = PaymentView.objects.select_related("payment", "payment__address").get(payment=row.payment)
    refunds = list(Refund.objects.filter(payment=row.payment))
    leg = next((leg for leg in legs_of(view) if leg.carries(row)), None)
    if leg is None or left_on(leg, refunds) < 0:
        raise Conflict(
            code="money_gone",
            message=_("The chain has taken back the money that this refund is for. Do not send it now."),
        )


def fail_locked(row: Refund, *, why: str) -> None:
    """A refund that was sent and did not arrive as it should: staff are asked again. The row is locked."""
    row.last_error = why[:300]
    REFUND.advance(
        row,
        RefundStatus.FAILED,
        order_ref=row.order.public_id,
        payload=payload_of(row) | {"why": why},
        also=["last_error"],
    )
    refund_mail.failed(row.order, row)
    refund_questions.close_unseen(row, reason="it did not arrive")
    refund_questions.ask_to_send(row)


def verify_locked(row: Refund, movement: RefundMovement) -> None:
    """The money has arrived: keep what chain or processor showed, and credit the invoice. The row is locked."""
    movement.save(force_insert=True)
    row.last_error = ""
    REFUND.advance(
        row,
        RefundStatus.VERIFIED,
        order_ref=row.order.public_id,
        payload=payload_of(row),
        also=["last_error"],
    )
    refund_questions.close_unseen(row, reason="it arrived")
    refund_questions.close_delivery(row)
    refund_mail.verified(row.order, row)
    issue_credit_note(row)
