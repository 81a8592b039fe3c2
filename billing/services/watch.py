"""Look at one network: balances and transfers of our addresses, written as facts. Worker only.

Network I/O happens outside any transaction; what was read is applied per payment under the lock on its order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

import structlog
from django.db import transaction

from billing import offers
from billing.models import ChainState, PaymentRequest, Transfer
from billing.networks import Asset, Network
from billing.rails.errors import ChainError, ChainMismatch, ChainMoved
from billing.rails.evm import ADDRESSES_PER_ROUND, Chain
from billing.rails.facts import Header, Round
from billing.services.apply_facts import (
    Found,
    Readings,
    apply,
    head_changed,
    is_news,
    latest_readings,
)
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
    last = latest_readings(payments)
    found = {payment.pk: Found() for payment in payments}
    _find_gone(chain, seen, payments, active, found)
    _find_transfers(chain, asset, seen, payments, active, found, last)
    for payment in payments:
        if not is_news(payment, seen, found[payment.pk], last, active[payment.pk]):
            continue
        try:
            with transaction.atomic():
                apply(payment, seen, found[payment.pk])
        except Exception:
            # One odd order must not stop the others; its facts are read again in the next round.
            log.exception("payment_not_applied", payment=payment.pk)
    return seen


def _active_transfers(payments: Iterable[PaymentRequest]) -> Mapping[int, list[Transfer]]:
    by_payment: dict[int, list[Transfer]] = {payment.pk: [] for payment in payments}
    for row in Transfer.objects.in_chain().filter(payment_id__in=by_payment):
        by_payment[row.payment_id].append(row)
    return by_payment


def _find_gone(
    chain: Chain,
    seen: Round,
    payments: list[PaymentRequest],
    active: Mapping[int, list[Transfer]],
    found: dict[int, Found],
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
    found: dict[int, Found],
    last: Readings,
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
        changed = bool(gone) or head_changed(payment, balance, last)
        first = payment.from_block if changed else max(payment.from_block, seen.head.number - RESCAN_BLOCKS)
        wanted[address] = payment
        start = min(start, first)
    if not wanted:
        return
    # In pieces: an endpoint that refuses long ranges has a time limit per piece, not for the whole catch-up.
    for piece in range(start, seen.head.number + 1, SCAN_BLOCKS):
        end = min(piece + SCAN_BLOCKS - 1, seen.head.number)
        for row in chain.transfers(asset=asset, recipients=list(wanted), from_block=piece, to_block=end):
            payment = wanted[row.recipient]
            if row.block_number >= payment.from_block:
                found[payment.pk].logs.append(row)
