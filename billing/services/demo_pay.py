"""Demo only: ask for a transfer from the demo wallet. The worker sends it (send_demo_transfer)."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing import locks
from billing.models import DemoTransfer
from core import clock, outbox
from core.errors import Conflict, Forbidden, NotFound

DEMO_CHAIN_ID = 31337
# A transfer is in a block within two seconds; a node that was killed may lose the last five.
SEEN_WITHIN = timedelta(seconds=60)


def demo_pay_offered(chain_id: int) -> bool:
    """The button exists in the demo on the local chain and nowhere else."""
    return bool(settings.DEMO) and chain_id == DEMO_CHAIN_ID


def request_demo_transfer(*, order_id: str) -> DemoTransfer:
    """Write the wish to pay what is still due. Locks the order. Raises Forbidden outside the demo, NotFound,
    Conflict(already_done) while one is under way or nothing is due."""
    with transaction.atomic():
        found = locks.payment_for_update(order_id)
        if found is None:
            raise NotFound(code="not_found", message=_("There is no such order."))
        _order, view = found
        if not view.payment.takes_crypto or not demo_pay_offered(view.payment.crypto.chain_id):
            raise Forbidden(code="demo_only", message=_("The demo wallet pays in the demo only."))
        missing = view.payment.crypto.due_units - view.received_units
        under_way = DemoTransfer.objects.filter(payment=view.payment, tx_hash="").exists()
        # A transfer that was sent a moment ago and is not seen yet would otherwise be paid a second time.
        recent = clock.now() - SEEN_WITHIN
        unseen = DemoTransfer.objects.filter(
            payment=view.payment, requested_at__gt=max(recent, view.first_seen_at or recent)
        ).exists()
        if missing <= 0 or under_way or unseen:
            raise Conflict(code="already_done", message=_("This is already done."))
        row = DemoTransfer.objects.create(payment=view.payment, units=missing, requested_at=clock.now())
        transaction.on_commit(lambda: outbox.hint("billing.send_demo_transfer", row.pk))
    return row
