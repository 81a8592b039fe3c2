"""Look at one network: balances and transfers of our addresses, written as facts. Worker only.

Network I/O happens outside any transaction; what was read is applied per payment under the lock on its order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef

from billing import locks, offers
from billing.models import BalanceReading, ChainState, PaymentRequest, Transfer, TransferGone
from billing.networks import Asset, Network
from billing.rails.errors import ChainError, ChainMismatch, ChainMoved
from billing.rails.evm import ADDRESSES_PER_ROUND, Chain
from billing.rails.facts import Header, Round, TransferLog
from billing.services.recompute import recompute
from core import claims, clock, decisions

log = structlog.get_logger(__name__)

# A round takes seconds; endpoints time out after 5 s each. A killed worker blocks the network this long.
CLAIM_SECONDS = 60
VERIFY_EVERY = timedelta(minutes=10)
FULL_SWEEP_EVERY = timedelta(hours=24)
MOVED_TRIES = 3
# Where balance and transfers disagree, an endpoint's log index may lag behind its state: look again this far back.
RESCAN_BLOCKS = 1000
SCAN_BLOCKS = 2000


@dataclass
class _Found:
    """What one look found for one payment."""

    gone: list[Transfer] = field(default_factory=list)
    logs: list[TransferLog] = field(default_factory=list)


def watch_network(slug: str) -> bool:
    """One look at one network; True if it was read. One worker at a time by a claim; safe to repeat."""
    network = offers.networks().get(slug)
    if network is None:
        return False
    state, _ = ChainState.objects.get_or_create(network=slug, defaults={"chain_id": network.chain_id})
    own = ChainState.objects.filter(network=slug)
    token = claims.claim(own, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    try:
        _look(network, state)
    except ChainMismatch as error:
        own.update(offered=False, problem=str(error)[:300])
        decisions.open_decision(
            kind="network_not_offered", subject=f"network:{slug}", facts={"reason": str(error)}
        )
    except ChainError as error:
        log.warning("chain_unreadable", network=slug, reason=str(error))
        own.update(offered=False, problem=str(error)[:300])
    else:
        return True
    finally:
        claims.release(own, token=token)
    return False


def _look(network: Network, state: ChainState) -> None:
    chain = Chain(network)
    moment = clock.system_now()
    if not state.offered or state.verified_at is None or moment - state.verified_at > VERIFY_EVERY:
        chain.verify()
        state.verified_at = moment
        decisions.close_open(
            kind="network_not_offered",
            subject=f"network:{network.slug}",
            reason="it agrees with the file again",
        )
    full = state.swept_at is None or moment - state.swept_at > FULL_SWEEP_EVERY
    product = clock.now()
    top: Round | None = None
    for payments in _groups(network, everything=full):
        for asset, group in _by_asset(network, payments):
            top = _look_at(chain, asset, group, state)
    if top is None:
        top = _retry(
            lambda: chain.round(asset=network.assets[0], addresses=[], from_block=state.head_number or 0)
        )
    state.head_number, state.head_hash, state.head_time = top.head.number, top.head.hash, top.head.time
    state.settled_number, state.settled_hash = top.settled.number, top.settled.hash
    state.settled_time = top.settled.time
    state.offered, state.problem = True, ""
    state.checked_at, state.checked_product_at = clock.system_now(), product
    if full:
        state.swept_at = moment
    state.save(
        update_fields=[
            "verified_at", "head_number", "head_hash", "head_time", "settled_number", "settled_hash",
            "settled_time", "offered", "problem", "checked_at", "checked_product_at", "swept_at",
        ]
    )  # fmt: skip


def _groups(network: Network, *, everything: bool) -> Iterator[list[PaymentRequest]]:
    """Payments to look at: those that are closely watched, or (once a day) every one that was ever opened."""
    wanted = PaymentRequest.objects.filter(network=network.slug).select_related("address", "order", "view")
    if not everything:
        wanted = wanted.filter(view__watch_until__gte=clock.now())
    batch: list[PaymentRequest] = []
    for payment in wanted.order_by("pk").iterator(chunk_size=ADDRESSES_PER_ROUND):
        batch.append(payment)
        if len(batch) == ADDRESSES_PER_ROUND:
            yield batch
            batch = []
    if batch:
        yield batch


def _by_asset(
    network: Network, payments: Sequence[PaymentRequest]
) -> Iterator[tuple[Asset, list[PaymentRequest]]]:
    for asset in network.assets:
        group = [payment for payment in payments if payment.asset_contract == asset.contract]
        if group:
            yield asset, group


def _look_at(chain: Chain, asset: Asset, payments: list[PaymentRequest], state: ChainState) -> Round:
    addresses = [payment.address.address for payment in payments]
    return _retry(lambda: _look_once(chain, asset, payments, addresses, state))


def _retry(look: Callable[[], Round]) -> Round:
    """A block that changes while it is read says nothing: ask again, a few times."""
    for _ in range(MOVED_TRIES - 1):
        try:
            return look()
        except ChainMoved:
            continue
    return look()


def _look_once(
    chain: Chain, asset: Asset, payments: list[PaymentRequest], addresses: list[str], state: ChainState
) -> Round:
    seen = chain.round(asset=asset, addresses=addresses, from_block=state.head_number or 0)
    active = _active_transfers(payments)
    found = {payment.pk: _Found() for payment in payments}
    _find_gone(chain, seen, payments, active, found)
    _find_transfers(chain, asset, seen, payments, active, found)
    for payment in payments:
        try:
            with transaction.atomic():
                _apply(payment, seen, found[payment.pk])
        except Exception:
            # One odd order must not stop the others; its facts are read again in the next round.
            log.exception("payment_not_applied", payment=payment.pk)
    return seen


def _active_transfers(payments: Iterable[PaymentRequest]) -> Mapping[int, list[Transfer]]:
    by_payment: dict[int, list[Transfer]] = {payment.pk: [] for payment in payments}
    rows = Transfer.objects.filter(payment_id__in=by_payment).exclude(
        Exists(TransferGone.objects.filter(transfer=OuterRef("pk")))
    )
    for row in rows:
        by_payment[row.payment_id].append(row)
    return by_payment


def _find_gone(
    chain: Chain,
    seen: Round,
    payments: list[PaymentRequest],
    active: Mapping[int, list[Transfer]],
    found: dict[int, _Found],
) -> None:
    """Transfers whose block is no longer part of the chain: those above the settled block, and all of a payment
    whose balance is below what its transfers say."""
    headers: dict[int, Header | None] = {}
    for payment in payments:
        rows = active[payment.pk]
        short = seen.latest_balances[payment.address.address] < sum(row.units for row in rows)
        for row in rows:
            if not short and row.block_number <= seen.settled.number:
                continue
            number = row.block_number
            if number not in headers:
                headers[number] = chain.header(number) if number <= seen.head.number else None
            header = headers[number]
            if header is None or header.hash != row.block_hash:
                found[payment.pk].gone.append(row)


def _find_transfers(
    chain: Chain,
    asset: Asset,
    seen: Round,
    payments: list[PaymentRequest],
    active: Mapping[int, list[Transfer]],
    found: dict[int, _Found],
) -> None:
    """Read the logs of the addresses whose balance is not explained by what we know."""
    wanted: dict[str, PaymentRequest] = {}
    start = seen.head.number
    for payment in payments:
        address = payment.address.address
        gone = {row.pk for row in found[payment.pk].gone}
        known = sum(row.units for row in active[payment.pk] if row.pk not in gone)
        balance = seen.latest_balances[address]
        if balance == known:
            continue
        changed = bool(gone) or _needs_reading(
            payment, BalanceReading.Kind.HEAD, asset.contract or "", balance
        )
        first = payment.from_block if changed else max(payment.from_block, seen.head.number - RESCAN_BLOCKS)
        wanted[address] = payment
        start = min(start, first)
    if not wanted:
        return
    # In pieces: an endpoint that refuses long ranges has a time limit per piece, not for the whole catch-up.
    for first in range(start, seen.head.number + 1, SCAN_BLOCKS):
        last = min(first + SCAN_BLOCKS - 1, seen.head.number)
        for row in chain.transfers(asset=asset, recipients=list(wanted), from_block=first, to_block=last):
            payment = wanted[row.recipient]
            if row.block_number >= payment.from_block:
                found[payment.pk].logs.append(row)


def _apply(payment: PaymentRequest, seen: Round, found: _Found) -> None:
    """Write new facts of one payment and recompute it, under the lock on its order."""
    address = payment.address.address
    locks.payment_for_update(payment.order.public_id)
    moment = clock.now()
    changed = False
    for row in found.gone:
        _, created = TransferGone.objects.get_or_create(transfer=row, defaults={"found_at": moment})
        changed |= created
    for entry in found.logs:
        _, created = Transfer.objects.get_or_create(
            chain_id=payment.chain_id,
            tx_hash=entry.tx_hash,
            ordinal=entry.ordinal_in_tx,
            block_hash=entry.block_hash,
            defaults={
                "payment": payment,
                "asset_contract": payment.asset_contract,
                "block_number": entry.block_number,
                "block_time": entry.block_time,
                "sender": entry.sender,
                "units": entry.units,
                "found_at": moment,
            },
        )
        changed |= created
    contract = payment.asset_contract
    changed |= _read(payment, BalanceReading.Kind.HEAD, contract, seen.head, seen.latest_balances[address])
    changed |= _read(
        payment, BalanceReading.Kind.SETTLED, contract, seen.settled, seen.settled_balances[address]
    )
    changed |= _read(payment, BalanceReading.Kind.HEAD, "", seen.head, seen.native_latest[address])
    if changed:
        recompute(order_id=payment.order.public_id, block=(seen.head.number, seen.head.time))


def _read(payment: PaymentRequest, kind: str, contract: str, header: Header, units: int) -> bool:
    if not _needs_reading(payment, kind, contract, units, header):
        return False
    BalanceReading.objects.create(
        payment=payment,
        asset_contract=contract,
        kind=kind,
        block_number=header.number,
        block_hash=header.hash,
        block_time=header.time,
        units=units,
        read_at=clock.now(),
    )
    return True


def _needs_reading(
    payment: PaymentRequest, kind: str, contract: str, units: int, header: Header | None = None
) -> bool:
    """A reading is written when it says something new: another sum, the first look past the expiry, or the first
    settled look that covers a transfer."""
    last = (
        BalanceReading.objects.filter(payment=payment, kind=kind, asset_contract=contract)
        .order_by("-id")
        .first()
    )
    if last is None or last.units != units:
        return True
    if header is None or kind != BalanceReading.Kind.SETTLED:
        return False
    if last.block_time < payment.expires_at <= header.time:
        return True
    return Transfer.objects.filter(
        payment=payment, block_number__gt=last.block_number, block_number__lte=header.number
    ).exists()
