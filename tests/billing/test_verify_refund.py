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
