"""The buyer says where a refund on chain goes: checked, shown back, confirmed; changeable until it is sent."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing import locks, offers
from billing.addresses import normalize_address
from billing.lifecycle import REFUND, RefundStatus
from billing.models import DepositAddress, PaymentRequest, Rail, Refund
from billing.services import refund_questions
from billing.services.refund import payload_of
from core import audit, clock
from core.errors import Conflict, Invalid, NotFound

# The audit's name of a change of address.
CHANGED = "refund.destination"
CHANGEABLE = frozenset({RefundStatus.ADDRESS_NEEDED, RefundStatus.DUE, RefundStatus.FAILED})


def check_destination(text: str, *, field: str = "destination") -> str:
    """The address with its checksum, as it is shown back before it counts. Reads only, no RPC.

    Raises Invalid: invalid_address for the form, a wrong checksum and the zero address, own_address for one of our
    deposit addresses, contract_address for a token contract or another contract that we know.
    """
    address = normalize_address(text, field=field)
    if DepositAddress.objects.filter(address__iexact=address).exists():
        raise Invalid(
            code="own_address",
            message=_("This is one of our own deposit addresses. Enter an address that you hold."),
            field=field,
        )
    if _is_contract(address):
        raise Invalid(
            code="contract_address",
            message=_("This is the contract of a token: what is sent there is lost. Enter your own address."),
            field=field,
        )
    return address


def confirm_destination(*, order_id: str, refund_id: int, destination: str, actor: str = "buyer") -> Refund:
    """Take the address for this refund and for the others of the order that wait for one on the same network and
    asset.

    Locks the order, the view of its payment, the refunds by key. Repeatable; the last word before the sending counts.
    Raises NotFound, Conflict(already_sent) and what `check_destination` raises.
    """
    address = check_destination(destination)
    with transaction.atomic():
        row = locks.refund_for_update(refund_id)
        if row is None or row.order.public_id != order_id or row.rail != Rail.CRYPTO:
            raise NotFound(code="not_found", message=_("There is no such refund."))
        if row.status not in CHANGEABLE:
            raise Conflict(
                code="already_sent", message=_("This refund was sent already; its address cannot change.")
            )
        _take(row, address, actor)
        for other_id in _waiting_like(row):
            other = locks.refund_for_update(other_id)
            if other is not None and other.status == RefundStatus.ADDRESS_NEEDED:
                _take(other, address, actor)
    return row


def _waiting_like(row: Refund) -> list[int]:
    return list(
        Refund.objects.filter(
            payment=row.payment,
            chain_id=row.chain_id,
            asset_contract=row.asset_contract,
            status=RefundStatus.ADDRESS_NEEDED,
        )
        .exclude(pk=row.pk)
        .order_by("pk")
        .values_list("pk", flat=True)
    )


def _take(row: Refund, address: str, actor: str) -> None:
    if row.destination == address and row.status == RefundStatus.DUE:
        return
    before = row.destination
    row.destination = address
    row.destination_at = clock.now()
    fields = ["destination", "destination_at"]
    if row.status == RefundStatus.DUE:
        row.save(update_fields=fields)
        # Staff may have sent to the former address a moment ago: the check on chain looks it up here.
        audit.record(
            actor=actor,
            action=CHANGED,
            subject=f"refund:{row.pk}",
            before={"destination": before},
            after={"destination": address},
        )
    else:
        REFUND.advance(
            row, RefundStatus.DUE, order_ref=row.order.public_id, payload=payload_of(row), also=fields
        )
    refund_questions.ask_to_send(row)


def _is_contract(address: str) -> bool:
    """A configured token or multicall contract, or one that a payment or a refund was ever made in."""
    for network in offers.networks().values():
        known = {asset.contract for asset in network.assets} | {network.multicall}
        if address in known:
            return True
    return (
        PaymentRequest.objects.filter(asset_contract__iexact=address).exists()
        or Refund.objects.filter(asset_contract__iexact=address).exists()
    )
