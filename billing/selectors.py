"""Reads of payments for pages and the API: the stored view, its expiry judged by the clock (rule 7)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from billing import card_amounts, news, offers
from billing.lifecycle import PaymentStatus
from billing.models import ChainState, PaymentRequest, PaymentView, Transfer
from billing.networks import Network, Settle
from billing.others import OtherArrived, others_of
from billing.uri import payment_uri
from core import clock
from core.money import units_to_amount
from orders.models import Order

# A worker looks every few seconds; after this long without a full round the chain counts as silent.
SILENT_AFTER = timedelta(seconds=60)
# How often a round is made outside the demo (anchorgpu.schedule); the demo's are shorter.
ROUND_SECONDS = 5


@dataclass(frozen=True)
class TransferSeen:
    """A transfer of the asked asset that is part of the chain now; without a hash it came by an internal call."""

    tx_hash: str
    amount: Decimal
    block_number: int
    block_time: datetime
    final: bool
    on_time: bool
    url: str


@dataclass(frozen=True)
class PaymentState:
    """What is known of a payment. Amounts are of the asset (of the currency where no address was issued,
    `takes_crypto` False), `_units` base units as text; `still_checking` means that the time is up and no settled
    block has confirmed yet that nothing came. `check_every_blocks` above 1: an address of the native coin is read
    in turn, and `last_block` is its own last look."""

    rail: str
    takes_crypto: bool
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
    late: Decimal
    still_due: Decimal
    excess: Decimal
    others: tuple[OtherArrived, ...]
    price: Decimal
    rate_source: str
    rate_at: datetime | None
    settle: Settle | None
    explorer_url: str
    uri: str
    expires_at: datetime
    still_checking: bool
    last_block: int | None
    last_block_at: datetime | None
    checked_at: datetime | None
    check_every_blocks: int
    chain_silent_since: datetime | None
    first_seen_at: datetime | None
    settled_at: datetime | None
    reversed_at: datetime | None


def payment_state(order: Order) -> PaymentState | None:
    """The payment of an order, or None where it has none. At most two queries, no lock."""
    view = (
        PaymentView.objects.select_related("payment", "payment__address").filter(payment__order=order).first()
    )
    if view is None:
        return None
    return state_of_view(view, ChainState.objects.filter(network=view.payment.network).first())


def state_of_view(
    view: PaymentView, chain: ChainState | None, rounds: Mapping[str, int] | None = None
) -> PaymentState:
    """The same from rows that were read before. No query, for a native coin one where `rounds` are not given."""
    payment = view.payment
    status = status_by_clock(view)
    return PaymentState(
        rail=payment.rail,
        takes_crypto=payment.takes_crypto,
        status=status,
        flags=tuple(view.flags),
        others=others_of(view),
        expires_at=payment.expires_at,
        still_checking=status == PaymentStatus.EXPIRED and view.unpaid_confirmed_at is None,
        first_seen_at=view.first_seen_at,
        settled_at=view.settled_at,
        reversed_at=view.reversed_at,
        **(_on_chain(view, chain, rounds) if payment.takes_crypto else _without_chain(view)),
    )


def states_of_views(rows: Sequence[tuple[PaymentView, ChainState | None]]) -> list[PaymentState]:
    """The same for several payments. One query where there is a native coin among them."""
    native = {view.payment.network for view, _chain in rows if not view.payment.asset_contract}
    rounds = news.native_rounds_of(native) if native else {}
    return [state_of_view(view, chain, rounds) for view, chain in rows]


def status_by_clock(view: PaymentView) -> str:
    """The stored status; a payment that waits reads as expired from `expires_at` on."""
    if view.status == PaymentStatus.AWAITING and clock.now() >= view.payment.expires_at:
        return PaymentStatus.EXPIRED
    return view.status


def seen_of_rows(
    payment: PaymentRequest, rows: Iterable[Transfer], *, settled_number: int | None
) -> tuple[TransferSeen, ...]:
    """Transfers that count for a payment, as billing.order_rows has read them, oldest first; final by the rule for
    its amount. No query."""
    if not payment.takes_crypto:
        return ()
    network = offers.networks().get(payment.network)
    return tuple(
        TransferSeen(
            tx_hash=row.tx_hash,
            amount=units_to_amount(row.units, payment.crypto.decimals),
            block_number=row.block_number,
            block_time=row.block_time,
            final=settled_number is not None and row.block_number <= settled_number,
            on_time=row.block_time <= payment.expires_at,
            url=_explorer(network, "tx", row.tx_hash),
        )
        for row in rows
    )


def _on_chain(
    view: PaymentView, chain: ChainState | None, rounds: Mapping[str, int] | None
) -> dict[str, Any]:
    payment, crypto = view.payment, view.payment.crypto
    network = offers.networks().get(payment.network)

    def amount(units: int) -> Decimal:
        return units_to_amount(units, crypto.decimals)

    still_due = max(crypto.due_units - view.received_units, 0)
    every = _check_every(payment, network, rounds)
    last_block, last_block_at, checked_at = _last_look(view, chain, every)
    return {
        "network": payment.network,
        "network_name": network.name if network else payment.network,
        "chain_id": crypto.chain_id,
        "is_test": network.test if network else False,
        "asset": payment.asset,
        "asset_contract": payment.asset_contract,
        "address": crypto.address,
        "amount": amount(crypto.due_units),
        "amount_units": str(crypto.due_units),
        "received": amount(view.received_units),
        "received_units": str(view.received_units),
        "settled": amount(view.settled_units),
        "on_time": amount(view.on_time_units),
        "late": amount(max(view.settled_units - view.on_time_units, 0)),
        "still_due": amount(still_due),
        "excess": amount(max(view.received_units - crypto.due_units, 0)),
        "price": payment.rate or payment.amount / amount(crypto.due_units),
        "rate_source": payment.rate_source,
        "rate_at": payment.rate_at,
        "settle": network.settle_for(payment.amount) if network else None,
        "explorer_url": _explorer(network, "address", crypto.address),
        "uri": payment_uri(crypto, still_due) if still_due else "",
        "last_block": last_block,
        "last_block_at": last_block_at,
        "checked_at": checked_at,
        "check_every_blocks": every,
        "chain_silent_since": _silent_since(chain),
    }


def _without_chain(view: PaymentView) -> dict[str, Any]:
    """A bank card alone: the amount is the currency's, what is captured is final."""
    payment = view.payment
    received = card_amounts.to_amount(view.card_minor, payment.currency)
    zero = Decimal(0)
    return {
        "network": "",
        "network_name": "",
        "chain_id": 0,
        "is_test": False,
        "asset": payment.currency,
        "asset_contract": "",
        "address": "",
        "amount": payment.amount,
        "amount_units": "",
        "received": received,
        "received_units": str(view.card_minor),
        "settled": received,
        "on_time": received,
        "late": zero,
        "still_due": max(payment.amount - received, zero),
        "excess": max(received - payment.amount, zero),
        "price": Decimal(1),
        "rate_source": "",
        "rate_at": None,
        "settle": None,
        "explorer_url": "",
        "uri": "",
        "last_block": None,
        "last_block_at": None,
        "checked_at": None,
        "check_every_blocks": 0,
        "chain_silent_since": None,
    }


def _explorer(network: Network | None, kind: str, value: str) -> str:
    return f"{network.explorer}/{kind}/{value}" if network and network.explorer and value else ""


def _check_every(payment: PaymentRequest, network: Network | None, known: Mapping[str, int] | None) -> int:
    """In blocks: tokens are found by the logs of every block, the native coin by reading balances in turn."""
    if payment.asset_contract or network is None:
        return 1
    rounds = news.native_rounds(network.slug) if known is None else known[network.slug]
    return max(1, round(rounds * ROUND_SECONDS / network.block_seconds))


def _last_look(
    view: PaymentView, chain: ChainState | None, every: int
) -> tuple[int | None, datetime | None, datetime | None]:
    """While an address is watched closely each round reads every block for it; later, and for a coin that is read
    in turn, only its own look is one."""
    in_turn = not view.payment.asset_contract and every > 1 and view.last_block is not None
    closely = clock.now() <= view.watch_until and not in_turn
    if chain is not None and chain.head_number is not None and closely:
        return chain.head_number, chain.head_time, chain.checked_product_at
    return view.last_block, view.last_block_at, view.checked_at


def _silent_since(chain: ChainState | None) -> datetime | None:
    """Product time of the last full round where it lies too far back; ages are judged by the system clock."""
    if chain is None or chain.checked_at is None:
        return None
    return chain.checked_product_at if clock.system_now() - chain.checked_at > SILENT_AFTER else None
