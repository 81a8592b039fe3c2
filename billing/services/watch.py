"""Look at one network: its blocks, and the addresses that have news, written as facts. Worker only.

Network I/O happens outside any transaction; what was read is applied per payment under the lock on its order.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

import structlog
from django.db import transaction

from billing import news, offers
from billing.models import ChainState, PaymentRequest, PaymentView
from billing.networks import Network, Settle
from billing.rails.errors import ChainDisagrees, ChainError, ChainMismatch, ChainMoved
from billing.rails.evm import ADDRESSES_PER_ROUND, Chain
from billing.rails.facts import Holdings, Position
from billing.services.apply_facts import apply, is_news
from billing.services.network_claim import CLAIM_SECONDS, ClaimLost, NetworkClaim
from billing.services.odd_payment import close_odd, report, report_odd
from billing.services.read_logs import read_logs
from billing.services.search import Search
from core import claims, clock, decisions

log = structlog.get_logger(__name__)

VERIFY_EVERY = timedelta(minutes=10)
FULL_SWEEP_EVERY = timedelta(hours=24)
MOVED_TRIES = 3
# One failure is a hiccup. After that the pause doubles, so that an endpoint which limits us is not asked in a loop
# (C33), and stays below the minute after which pages say that the chain is silent.
PATIENT_FAILURES = 2
LONGEST_PAUSE_SECONDS = 60
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


def watch_all() -> None:
    """One look at every network of the file. What goes wrong with one is not the others' business (C33); an error
    of our own is raised at the end."""
    failed: Exception | None = None
    for slug in offers.networks():
        try:
            watch_network(slug)
        except Exception as error:
            log.exception("network_not_watched", network=slug)
            failed = error
    if failed is not None:
        raise failed


def watch_network(slug: str) -> bool:
    """One look at one network; True if it was read. One worker at a time by a claim; safe to repeat."""
    network = offers.networks().get(slug)
    if network is None:
        return False
    state, _created = ChainState.objects.get_or_create(network=slug, defaults={"chain_id": network.chain_id})
    if state.next_at is not None and state.next_at > clock.system_now():
        return False
    own = ChainState.objects.filter(network=slug)
    token = claims.claim(own, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    claim = NetworkClaim(own, token)
    try:
        _look(network, claim)
    except ClaimLost:
        log.warning("chain_claim_lost", network=slug)
        return False
    except ChainError as error:
        log.warning("chain_unreadable", network=slug, reason=str(error))
        _note_failure(slug, claim, error)
        return False
    finally:
        claims.release(own, token=token)
    return True


def _note_failure(slug: str, claim: NetworkClaim, error: ChainError) -> None:
    """Not offered until a round succeeds; what staff must look at becomes a decision."""
    state = claim.rows.get()
    failures = state.failures + 1
    pause = min(LONGEST_PAUSE_SECONDS, 5 * 2 ** min(failures - PATIENT_FAILURES, 5))
    moment = clock.system_now() + timedelta(seconds=pause) if failures > PATIENT_FAILURES else None
    claim.rows.filter(claim_token=claim.token).update(
        offered=False, problem=str(error)[:300], failures=failures, next_at=moment
    )
    kinds: dict[type[ChainError], str] = {
        ChainMismatch: "network_not_offered",
        ChainDisagrees: "endpoints_disagree",
    }
    kind = kinds.get(type(error))
    if kind is not None:
        decisions.open_decision(kind=kind, subject=f"network:{slug}", facts={"reason": str(error)})


def _look(network: Network, claim: NetworkClaim) -> None:
    """A block that changes while it is read says nothing: ask again, a few times."""
    chain = Chain(network)
    _verify(chain, claim)
    for _ in range(MOVED_TRIES - 1):
        try:
            return _look_once(chain, claim)
        except ChainMoved:
            continue
    return _look_once(chain, claim)


def _verify(chain: Chain, claim: NetworkClaim) -> None:
    state, moment = claim.rows.get(), clock.system_now()
    if state.offered and state.verified_at is not None and moment - state.verified_at <= VERIFY_EVERY:
        return
    chain.verify()
    claim.write(verified_at=moment)
    decisions.close_open(
        kind="network_not_offered",
        subject=f"network:{chain.network.slug}",
        reason="it agrees with the file again",
    )


def _look_once(chain: Chain, claim: NetworkClaim) -> None:
    """Logs first, up to the head: nothing is declared before all blocks are read (C30). Then who has news."""
    network, state, product = chain.network, claim.rows.get(), clock.now()
    seen = max(state.head_number or 0, state.cursor_number or 0)
    position = chain.position(from_block=seen)
    concerned = read_logs(chain, state, claim, top=position.head)
    concerned |= news.with_news(network, state, position)
    safety = news.in_turn(network, native=False, after=state.safety_payment)
    native = news.in_turn(network, native=True, after=state.native_payment)
    swept = _old_in_turn(state)
    odd = news.unreadable()
    for group in _groups({*concerned, *safety, *native, *swept}):
        _look_at(chain, position, group, claim, odd)
    if news.native_rounds(network.slug) > 1:
        _mark_native(native, position)
    claim.write(
        safety_payment=safety[-1] if safety else 0,
        native_payment=native[-1] if native else 0,
        **_sweep_progress(state, swept),
    )
    _complete(network, position, claim, product_at=product)


def _complete(network: Network, position: Position, claim: NetworkClaim, *, product_at: object) -> None:
    settled = position.of(network.settle)
    claim.write(
        head_number=position.head.number,
        head_hash=position.head.hash,
        head_time=position.head.time,
        settled_number=settled.number,
        settled_hash=settled.hash,
        settled_time=settled.time,
        offered=True,
        problem="",
        failures=0,
        next_at=None,
        checked_at=clock.system_now(),
        checked_product_at=product_at,
    )
    decisions.close_open(
        kind="endpoints_disagree", subject=f"network:{network.slug}", reason="they agree again"
    )


def _old_in_turn(state: ChainState) -> list[int]:
    """Once a day every address ever issued, of every network, one group per round, so that it never holds up what
    is open (C12)."""
    if state.swept_at is not None and clock.system_now() - state.swept_at < FULL_SWEEP_EVERY:
        return []
    rows = news.watched().filter(pk__gt=state.swept_payment).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:ADDRESSES_PER_ROUND])


def _sweep_progress(state: ChainState, swept: Sequence[int]) -> dict[str, object]:
    if len(swept) == ADDRESSES_PER_ROUND:
        return {"swept_payment": swept[-1]}
    if state.swept_at is not None and not swept and state.swept_payment == 0:
        return {}
    return {"swept_payment": 0, "swept_at": clock.system_now()}


def _mark_native(keys: Sequence[int], position: Position) -> None:
    """Each of these was read up to the head: their pages say so. No state changes by it, so no order is locked, and
    one row at a time, so that nobody waits in a circle."""
    for key in keys:
        PaymentView.objects.filter(payment=key).update(
            last_block=position.head.number, last_block_at=position.head.time, checked_at=clock.now()
        )


def _groups(keys: Iterable[int]) -> Iterator[list[PaymentRequest]]:
    """Payments in groups of what one round of reads can hold."""
    ordered = sorted(keys)
    for start in range(0, len(ordered), ADDRESSES_PER_ROUND):
        yield list(
            news.watched()
            .filter(pk__in=ordered[start : start + ADDRESSES_PER_ROUND])
            .select_related("address", "order", "view")
            .order_by("pk")
        )


def _look_at(
    chain: Chain,
    position: Position,
    payments: Sequence[PaymentRequest],
    claim: NetworkClaim,
    odd: set[int],
) -> None:
    by_rule: dict[Settle, list[PaymentRequest]] = {}
    for payment in filter(_is_readable, payments):
        at_home = payment.chain_id == chain.network.chain_id
        rule = chain.network.settle_for(payment.amount) if at_home else chain.network.settle
        by_rule.setdefault(rule, []).append(payment)
    for rule, group in by_rule.items():
        claim.renew()
        held, search = _searched(chain, position, rule, group, claim)
        for payment in group:
            _apply_one(chain, payment, held, search, was_odd=payment.pk in odd)


def _searched(
    chain: Chain, position: Position, rule: Settle, group: Sequence[PaymentRequest], claim: NetworkClaim
) -> tuple[Holdings, Search]:
    contracts = ["", *chain.network.contracts]
    addresses = [payment.crypto.address for payment in group]

    def read(at: Position, suspects: frozenset[int] | None = None) -> tuple[Holdings, Search]:
        held = chain.holdings(at, rule=rule, addresses=addresses, contracts=contracts)
        search = Search(chain, held, group, renew=claim.renew, suspects=suspects)
        search.run()
        return held, search

    held, search = read(position)
    if search.missing:
        # A transfer is dropped only when two looks, each with headers of its own, agree (C26).
        held, search = read(chain.position(from_block=position.head.number), search.missing)
    return held, search


def _is_readable(payment: PaymentRequest) -> bool:
    """A row that no node could answer for would break the batch of all others (C31)."""
    try:
        is_address = bool(_ADDRESS.fullmatch(payment.crypto.address))
    except ValueError as error:
        report(payment, error)
        return False
    if not is_address:
        report(payment, ValueError(f"{payment.crypto.address!r} is no address."))
    return is_address


def _apply_one(
    chain: Chain, payment: PaymentRequest, held: Holdings, search: Search, *, was_odd: bool
) -> None:
    chain_id, found = chain.network.chain_id, search.found[payment.pk]
    with report_odd(payment), transaction.atomic():
        if is_news(payment, chain_id, held, found, search.last, search.active[payment.pk]):
            apply(payment, chain_id, held, found)
        if was_odd:
            close_odd(payment)
