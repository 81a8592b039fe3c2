"""Reads of payments for pages and the API: the stored view, its expiry judged by the clock (rule 7)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from billing import offers
from billing.lifecycle import PaymentStatus
from billing.models import ChainState, PaymentRequest, PaymentView, Transfer
from core import clock
from core.money import units_to_amount
from orders.models import Order

# A worker looks every few seconds; after this long without a full round the chain counts as silent.
SILENT_AFTER = timedelta(seconds=60)


@dataclass(frozen=True)
class TransferSeen:
    """A transfer that is part of the chain now."""

    tx_hash: str
    amount: Decimal
    block_number: int
    block_time: datetime
    final: bool


@dataclass(frozen=True)
class PaymentState:
    """What is known of a payment. Amounts are of the asset, `_units` base units as text; `still_checking`
    means that the time is up and no settled block has confirmed yet that nothing came."""

    status: str
    flags: tuple[str, ...]
    network: str
    network_name: str
    chain_id: int
    is_test: bool
    asset: str
    asset_contract: str
    address: str
    amount: Decimal
    amount_units: str
    received: Decimal
    received_units: str
    settled: Decimal
    on_time: Decimal
    still_due: Decimal
    excess: Decimal
    price: Decimal
    expires_at: datetime
    still_checking: bool
    last_block: int | None
    last_block_at: datetime | None
    checked_at: datetime | None
    chain_silent_since: datetime | None
    first_seen_at: datetime | None
    settled_at: datetime | None
    reversed_at: datetime | None


def payment_state(order: Order) -> PaymentState | None:
    """The payment of an order, or None where it has none. Two queries, no lock."""
    view = (
        PaymentView.objects.select_related("payment", "payment__address").filter(payment__order=order).first()
    )
    if view is None:
        return None
    payment = view.payment
    chain = ChainState.objects.filter(network=payment.network).first()
    network = offers.networks().get(payment.network)
    status = status_by_clock(view)
    received = units_to_amount(view.received_units, payment.crypto.decimals)
    due = units_to_amount(payment.crypto.due_units, payment.crypto.decimals)
    last_block, last_block_at, checked_at = _last_look(view, chain)
    return PaymentState(
        status=status,
        flags=tuple(view.flags),
        network=payment.network,
        network_name=network.name if network else payment.network,
        chain_id=payment.crypto.chain_id,
        is_test=network.test if network else False,
        asset=payment.asset,
        asset_contract=payment.asset_contract,
        address=payment.crypto.address,
        amount=due,
        amount_units=str(payment.crypto.due_units),
        received=received,
        received_units=str(view.received_units),
        settled=units_to_amount(view.settled_units, payment.crypto.decimals),
        on_time=units_to_amount(view.on_time_units, payment.crypto.decimals),
        still_due=max(due - received, Decimal(0)),
        excess=max(received - due, Decimal(0)),
        price=payment.amount / due,
        expires_at=payment.expires_at,
        still_checking=status == PaymentStatus.EXPIRED and view.unpaid_confirmed_at is None,
        last_block=last_block,
        last_block_at=last_block_at,
        checked_at=checked_at,
        chain_silent_since=_silent_since(chain),
        first_seen_at=view.first_seen_at,
        settled_at=view.settled_at,
        reversed_at=view.reversed_at,
    )


def status_by_clock(view: PaymentView) -> str:
    """The stored status; a payment that waits reads as expired from `expires_at` on."""
    if view.status == PaymentStatus.AWAITING and clock.now() >= view.payment.expires_at:
        return PaymentStatus.EXPIRED
    return view.status


def transfers_seen(order: Order) -> tuple[TransferSeen, ...]:
    """Transfers of an order's payment that are part of the chain now, oldest first. Two queries."""
    payment = PaymentRequest.objects.filter(order=order).first()
    if payment is None:
        return ()
    chain = ChainState.objects.filter(network=payment.network).first()
    settled_number = chain.settled_number if chain and chain.settled_number is not None else -1
    return tuple(
        TransferSeen(
            tx_hash=row.tx_hash,
            amount=units_to_amount(row.units, payment.crypto.decimals),
            block_number=row.block_number,
            block_time=row.block_time,
            final=row.block_number <= settled_number,
        )
        for row in Transfer.objects.in_chain().filter(payment=payment)
    )


def _last_look(
    view: PaymentView, chain: ChainState | None
) -> tuple[int | None, datetime | None, datetime | None]:
    """While an address is watched closely each round is a look at it; later only its own view is."""
    if chain is not None and chain.head_number is not None and clock.now() <= view.watch_until:
        return chain.head_number, chain.head_time, chain.checked_product_at
    return view.last_block, view.last_block_at, view.checked_at


def _silent_since(chain: ChainState | None) -> datetime | None:
    """Product time of the last full round where it lies too far back; ages are judged by the system clock."""
    if chain is None or chain.checked_at is None:
        return None
    return chain.checked_product_at if clock.system_now() - chain.checked_at > SILENT_AFTER else None
