"""What a look at a sent refund makes of errors that are not the chain's."""

from typing import Any

import pytest
from django.db import IntegrityError

from billing.rails.refund_proof import Outgoing, Proof
from billing.services import verify_refund as verifying
from billing.services.refund import open_refund
from billing.services.refund_destination import confirm_destination
from billing.services.send_refund import mark_sent
from core import clock
from core.decisions import open_decision
from core.models import Decision
from fleet.models import Lease
from orders.models import Order
from tests import scenario
from tests.billing import money

pytestmark = pytest.mark.django_db


def test_an_error_of_ours_is_not_taken_for_a_transfer_that_served_before(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a refund that has arrived would be called failed, and staff would send it twice."""
    scenario.pay(order)
    row = open_refund(order_id=order.public_id, key="k", reason="by_hand", leg="local:USDC", units=5)
    assert row is not None
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    mark_sent(refund_id=row.pk, actor="anna", reason="sent", transaction_hash="0x" + "cd" * 32)
    proof = Proof(
        block_number=1,
        block_hash="0x" + "ab" * 32,
        block_time=clock.now(),
        settled=True,
        reverted=False,
        movements=(Outgoing(ordinal=0, recipient=money.DESTINATION, units=5),),
    )
    monkeypatch.setattr(verifying, "read_proof", lambda *_, **__: proof)

    def broken(*_: Any) -> None:
        raise IntegrityError("another rule")

    with monkeypatch.context() as patch:
        patch.setattr(verifying, "verify_locked", broken)
        with pytest.raises(IntegrityError, match="another rule"):
            verifying.verify_refund(row.pk)
    row.refresh_from_db()
    assert row.status == "sent"
    assert verifying.verify_refund(row.pk)
    row.refresh_from_db()
    assert row.status == "verified"


def test_a_refund_that_no_chain_shows_for_hours_is_asked_about_until_it_arrives(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sent is not arrived: a fee that is too low, or a chain that cannot be read, must not wait for a day unseen."""
    scenario.pay(order)
    row = open_refund(order_id=order.public_id, key="k", reason="by_hand", leg="local:USDC", units=5)
    assert row is not None
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    mark_sent(refund_id=row.pk, actor="anna", reason="sent", transaction_hash="0x" + "cd" * 32)
    seen: list[Proof | None] = [None]
    monkeypatch.setattr(verifying, "read_proof", lambda *_, **__: seen[0])
    assert not verifying.verify_refund(row.pk)
    asked = Decision.objects.filter(kind="refund_unverified")
    assert not asked.exists()
    clock.skip(verifying.ASK_AFTER)
    for _look in range(2):
        assert not verifying.verify_refund(row.pk)
    decision = asked.get()
    assert (decision.order_ref, decision.closed_at) == (order.public_id, None)
    assert decision.facts["problem"] == "not in a block yet"
    assert decision.facts["transaction_hash"] == "0x" + "cd" * 32
    seen[0] = Proof(
        block_number=1,
        block_hash="0x" + "ab" * 32,
        block_time=clock.now(),
        settled=True,
        reverted=False,
        movements=(Outgoing(ordinal=0, recipient=money.DESTINATION, units=5),),
    )
    assert verifying.verify_refund(row.pk)
    assert asked.get().closed_by == "system"


def test_a_delivery_that_failed_is_settled_when_its_money_is_back(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario.pay(order)
    lease = Lease.objects.get(order_ref=order.public_id)
    failed = open_decision(kind="lease_failed", subject=f"lease:{lease.pk}", order_ref=order.public_id)
    rows = [
        open_refund(order_id=order.public_id, key=key, reason="by_hand", leg="local:USDC", units=5)
        for key in ("a", "b")
    ]
    for number, row in enumerate(rows):
        assert row is not None
        assert Decision.objects.get(pk=failed.pk).closed_at is None
        confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
        tx_hash = f"0x{number:064x}"
        mark_sent(refund_id=row.pk, actor="anna", reason="sent", transaction_hash=tx_hash)
        proof = Proof(
            block_number=1,
            block_hash="0x" + "ab" * 32,
            block_time=clock.now(),
            settled=True,
            reverted=False,
            movements=(Outgoing(ordinal=0, recipient=money.DESTINATION, units=5),),
        )
        monkeypatch.setattr(verifying, "read_proof", lambda *_, proof=proof, **__: proof)
        assert verifying.verify_refund(row.pk)
    assert Decision.objects.get(pk=failed.pk).closed_by == "system"
