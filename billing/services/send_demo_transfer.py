"""Demo only, worker only: send what request_demo_transfer asked for, once."""

from django.conf import settings
from django.db import IntegrityError, transaction

from billing import offers
from billing.models import DemoTransfer
from billing.rails import local_chain
from billing.rails.errors import ChainError
from billing.services.demo_pay import demo_pay_offered
from core import claims, outbox

CLAIM_SECONDS = 30
# Two rows may read the same free nonce: the unique column lets one of them have it, the other asks again.
NONCE_TRIES = 5


def send_demo_transfer(row_id: int) -> bool:
    """Send one transfer; True if it is out. The nonce is stored before the sending, so a retry cannot pay twice."""
    if not settings.DEMO:
        return False
    own = DemoTransfer.objects.filter(pk=row_id, tx_hash="")
    token = claims.claim(own, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    row = DemoTransfer.objects.select_related("payment", "payment__address").get(pk=row_id)
    payment = row.payment
    network = offers.networks()[payment.network]
    try:
        if not demo_pay_offered(network.chain_id) or not _fix_nonce(row, network.rpc_urls[0]):
            return False
        tx_hash = local_chain.send_token(
            network.rpc_urls[0],
            network,
            network.asset(payment.asset),
            payment.crypto.address,
            row.units,
            nonce=row.nonce,
        )
        own.filter(claim_token=token).update(tx_hash=tx_hash, last_error="")
    except ChainError as error:
        own.update(last_error=str(error)[:300])
        return False
    finally:
        claims.release(DemoTransfer.objects.filter(pk=row_id), token=token)
    outbox.hint("billing.watch_network", payment.network)
    return True


def _fix_nonce(row: DemoTransfer, rpc_url: str) -> bool:
    if row.nonce is not None:
        return True
    for _ in range(NONCE_TRIES):
        nonce = local_chain.next_nonce(rpc_url)
        # A sent row that holds a nonce which the chain calls free: its block was lost when the node was killed.
        DemoTransfer.objects.filter(nonce__gte=nonce).exclude(tx_hash="").update(nonce=None)
        waiting = DemoTransfer.objects.filter(nonce__gte=nonce).order_by("-nonce").first()
        if waiting is not None and waiting.nonce is not None:
            nonce = waiting.nonce + 1
        try:
            with transaction.atomic():
                DemoTransfer.objects.filter(pk=row.pk).update(nonce=nonce)
        except IntegrityError:
            continue
        row.nonce = nonce
        return True
    return False


def unsent_ids() -> list[int]:
    """Transfers that were asked for and are not out."""
    return list(DemoTransfer.objects.filter(tx_hash="").order_by("pk").values_list("pk", flat=True))
