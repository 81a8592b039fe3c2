"""Check on chain that a refund has arrived. Worker only: nothing that the web process loads may import this."""

from datetime import timedelta

import structlog
from django.db import IntegrityError, transaction

from billing import locks, offers
from billing.addresses import checksum_address
from billing.chain_facts import BLOCK_TIME_SLACK
from billing.lifecycle import RefundStatus
from billing.models import Rail, Refund, RefundMovement
from billing.rails.errors import ChainError
from billing.rails.refund_proof import Outgoing, Proof, read_proof
from billing.services import refund_questions
from billing.services.post import post
from billing.services.refund_destination import CHANGED
from billing.services.send_refund import fail_locked, verify_locked
from core import claims, clock
from core.models import AuditEntry

log = structlog.get_logger(__name__)

# A few calls with time-outs of 5 s each. A killed worker blocks the refund this long.
CLAIM_SECONDS = 60
# A transaction with a low fee may wait for hours; one that no block has held for a day was replaced or dropped.
NOT_FOUND_AFTER = timedelta(hours=24)
# Most transfers are final within the hour: from here on staff know that one is not, and may speed it up.
ASK_AFTER = timedelta(hours=3)
# Staff read the address, then sign and send: a change by the buyer in this time is not theirs to know.
SENDING_TAKES = timedelta(minutes=30)
# The next look at a refund that is not settled yet; the first are quick, since a test chain settles in seconds.
PAUSES = (2, 5, 10, 30, 60)
# The constraint that speaks of a transfer which serves another refund; anything else is an error of ours.
ONE_REFUND_PER_TRANSFER = "refund_movement_once_on_chain"


def verify_refund(refund_id: int) -> bool:
    """One look at the chain; True where the refund is verified or has failed by it.

    Claims the row, reads outside any transaction, writes under the locks of order, view and refund, guarded by the
    claim. Safe to repeat, concurrently and after a kill.
    """
    own = Refund.objects.filter(pk=refund_id, rail=Rail.CRYPTO, status=RefundStatus.SENT)
    token = claims.claim(own, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    try:
        row = Refund.objects.get(pk=refund_id)
        network = offers.networks().get(row.network)
        if network is None:
            return _later(row, "its network is not in the networks file")
        try:
            proof = read_proof(network, row.tx_hash, contract=row.asset_contract)
        except ChainError as error:
            return _later(row, str(error))
        return _apply(row, proof)
    finally:
        claims.release(Refund.objects.filter(pk=refund_id), token=token)


def due_ids() -> list[int]:
    """Refunds that were sent and whose next look is due, oldest first."""
    return list(
        Refund.objects.filter(rail=Rail.CRYPTO, status=RefundStatus.SENT, next_at__lte=clock.system_now())
        .order_by("next_at")
        .values_list("pk", flat=True)[:100]
    )


def _apply(row: Refund, proof: Proof | None) -> bool:
    if proof is None:
        overdue = row.sent_at is not None and clock.now() - row.sent_at > NOT_FOUND_AFTER
        return _fail(row, "no block holds this transaction") if overdue else _later(row, "not in a block yet")
    if not proof.settled:
        return _later(row, "in a block that can still change")
    if proof.block_time < row.opened_at - BLOCK_TIME_SLACK:
        return _fail(row, "this transaction is older than the refund")
    fitting = [one for one in proof.movements if one.recipient in _destinations(row, proof)]
    enough = sorted((one for one in fitting if one.units >= row.units), key=lambda one: one.units)
    why = _why_not(row, proof, fitting, enough)
    if why:
        return _fail(row, why)
    return any(_verify(row, proof, one) for one in enough) or _fail(
        row, "this transfer has served another refund already"
    )


def _why_not(row: Refund, proof: Proof, fitting: list[Outgoing], enough: list[Outgoing]) -> str:
    """Why a settled transaction is no proof of this refund; empty where it may be."""
    if row.opened_at - proof.block_time > BLOCK_TIME_SLACK:
        return "the transaction is older than the refund"
    if proof.reverted:
        return "the transaction was reverted: it moved nothing"
    if not fitting:
        return f"it moved no {row.asset} to the address of the refund"
    return "" if enough else f"it moved less {row.asset} than is due"


def _destinations(row: Refund, proof: Proof) -> set[str]:
    """The confirmed address, and a former one that was changed while staff were sending."""
    former = AuditEntry.objects.filter(
        action=CHANGED, subject=f"refund:{row.pk}", at__gte=proof.block_time - SENDING_TAKES
    )
    known = {row.destination, *(entry.before["destination"] for entry in former)}
    return {checksum_address(address) for address in known if address}


def _verify(row: Refund, proof: Proof, movement: Outgoing) -> bool:
    """False where another refund has this transfer already, or somebody else decided meanwhile."""
    try:
        with transaction.atomic():
            locked = locks.refund_for_update(row.pk)
            if locked is None or locked.status != RefundStatus.SENT or locked.tx_hash != row.tx_hash:
                return True
            verify_locked(
                locked,
                RefundMovement(
                    refund=locked,
                    rail=Rail.CRYPTO,
                    chain_id=locked.chain_id,
                    tx_hash=locked.tx_hash,
                    ordinal=movement.ordinal,
                    units=movement.units,
                    block_number=proof.block_number,
                    block_hash=proof.block_hash,
                    block_time=proof.block_time,
                    found_at=clock.now(),
                ),
            )
            post(order_id=locked.order.public_id, kind="refund.verified")
    except IntegrityError as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        if diagnosis is None or diagnosis.constraint_name != ONE_REFUND_PER_TRANSFER:
            raise
        return False
    return True


def _fail(row: Refund, why: str) -> bool:
    log.warning("refund_failed", refund=row.pk, reason=why)
    with transaction.atomic():
        locked = locks.refund_for_update(row.pk)
        if locked is not None and locked.status == RefundStatus.SENT and locked.tx_hash == row.tx_hash:
            fail_locked(locked, why=why)
            post(order_id=locked.order.public_id, kind="refund.failed")
    return True


def _later(row: Refund, why: str) -> bool:
    if row.sent_at is not None and clock.now() - row.sent_at > ASK_AFTER:
        with transaction.atomic():
            locked = locks.refund_for_update(row.pk)
            if locked is not None and locked.status == RefundStatus.SENT and locked.tx_hash == row.tx_hash:
                refund_questions.ask_why_unseen(locked, why=why)
    pause = PAUSES[min(row.attempts, len(PAUSES) - 1)]
    Refund.objects.filter(pk=row.pk, status=RefundStatus.SENT).update(
        attempts=row.attempts + 1,
        next_at=clock.system_now() + timedelta(seconds=pause),
        last_error=why[:300],
    )
    return False
