"""Look at one network: balances and transfers of our addresses, written as facts. Worker only.

Network I/O happens outside any transaction; what was read is applied per payment under the lock on its order.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet

from billing import offers
from billing.lifecycle import PaymentStatus
from billing.models import ChainState, PaymentRequest
from billing.networks import Asset, Network
from billing.rails.errors import ChainError, ChainMismatch, ChainMoved
from billing.rails.evm import ADDRESSES_PER_ROUND, Chain
from billing.rails.facts import Round
from billing.services.apply_facts import Found, apply, is_news
from billing.services.search import Search
from core import claims, clock, decisions

log = structlog.get_logger(__name__)

# A round takes seconds; endpoints time out after 5 s each. A killed worker blocks the network this long.
CLAIM_SECONDS = 60
VERIFY_EVERY = timedelta(minutes=10)
FULL_SWEEP_EVERY = timedelta(hours=24)
MOVED_TRIES = 3


class ClaimLost(Exception):
    """Another worker has the network now: what this one found is not written."""


@dataclass(frozen=True)
class _Claim:
    """The network's row while this worker holds it."""

    rows: QuerySet[ChainState]
    token: uuid.UUID

    def renew(self) -> None:
        """Before each group of payments. Raises ClaimLost where the time is over and another worker came."""
        until = clock.system_now() + timedelta(seconds=CLAIM_SECONDS)
        if not self.rows.filter(claim_token=self.token).update(claim_until=until):
            raise ClaimLost

    def write(self, **values: Any) -> None:
        """Only the holder of the claim writes the row."""
        if not self.rows.filter(claim_token=self.token).update(**values):
            raise ClaimLost


def watch_network(slug: str) -> bool:
    """One look at one network; True if it was read. One worker at a time by a claim; safe to repeat."""
    network = offers.networks().get(slug)
    if network is None:
        return False
    ChainState.objects.get_or_create(network=slug, defaults={"chain_id": network.chain_id})
    own = ChainState.objects.filter(network=slug)
    token = claims.claim(own, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    claim = _Claim(own, token)
    try:
        _look(network, own.get(), claim)
    except ClaimLost:
        log.warning("chain_claim_lost", network=slug)
        return False
    except ChainError as error:
        log.warning("chain_unreadable", network=slug, reason=str(error))
        own.filter(claim_token=token).update(offered=False, problem=str(error)[:300])
        if isinstance(error, ChainMismatch):
            decisions.open_decision(
                kind="network_not_offered", subject=f"network:{slug}", facts={"reason": str(error)}
            )
        return False
    finally:
        claims.release(own, token=token)
    return True


def _look(network: Network, state: ChainState, claim: _Claim) -> None:
    chain = Chain(network)
    moment = clock.system_now()
    if not state.offered or state.verified_at is None or moment - state.verified_at > VERIFY_EVERY:
        chain.verify()
        claim.write(verified_at=moment)
        decisions.close_open(
            kind="network_not_offered",
            subject=f"network:{network.slug}",
            reason="it agrees with the file again",
        )
    product = clock.now()
    top: Round | None = None
    for payments in _groups(network):
        for asset, group in _by_asset(network, payments):
            claim.renew()
            top = _look_at(chain, asset, group, state)
    if top is None:
        top = _retry(
            lambda: chain.round(asset=network.assets[0], addresses=[], from_block=state.head_number or 0)
        )
    claim.write(
        head_number=top.head.number,
        head_hash=top.head.hash,
        head_time=top.head.time,
        settled_number=top.settled.number,
        settled_hash=top.settled.hash,
        settled_time=top.settled.time,
        offered=True,
        problem="",
        checked_at=clock.system_now(),
        checked_product_at=product,
    )
    _look_at_old(chain, network, state, claim)


def _look_at_old(chain: Chain, network: Network, state: ChainState, claim: _Claim) -> None:
    """Once a day every address ever issued, one group per round, so that it never holds up what is open (C12)."""
    moment = clock.system_now()
    if state.swept_at is not None and moment - state.swept_at < FULL_SWEEP_EVERY:
        return
    old = list(
        _payments(network)
        .filter(~_closely_watched(), pk__gt=state.swept_payment)
        .order_by("pk")[:ADDRESSES_PER_ROUND]
    )
    for asset, group in _by_asset(network, old):
        claim.renew()
        _look_at(chain, asset, group, state)
    if len(old) == ADDRESSES_PER_ROUND:
        claim.write(swept_payment=old[-1].pk)
    else:
        claim.write(swept_payment=0, swept_at=moment)


def _payments(network: Network) -> QuerySet[PaymentRequest]:
    return PaymentRequest.objects.filter(network=network.slug).select_related("address", "order", "view")


def _closely_watched() -> Q:
    """A day past the expiry, and however long it takes until it is known whether the money came."""
    undecided = [PaymentStatus.AWAITING, PaymentStatus.SEEN, PaymentStatus.REVERSED]
    return Q(view__watch_until__gte=clock.now()) | Q(view__status__in=undecided)


def _groups(network: Network) -> Iterator[list[PaymentRequest]]:
    """Payments that are closely watched, in groups of what one round can hold."""
    rows = list(_payments(network).filter(_closely_watched()).order_by("pk"))
    for start in range(0, len(rows), ADDRESSES_PER_ROUND):
        yield rows[start : start + ADDRESSES_PER_ROUND]


def _by_asset(
    network: Network, payments: Sequence[PaymentRequest]
) -> Iterator[tuple[Asset, list[PaymentRequest]]]:
    for asset in network.assets:
        group = [payment for payment in payments if payment.asset_contract == asset.contract]
        if group:
            yield asset, group


def _look_at(chain: Chain, asset: Asset, payments: list[PaymentRequest], state: ChainState) -> Round:
    addresses = [payment.crypto.address for payment in payments]
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
    search = Search(chain, asset, seen, payments)
    search.run()
    if search.missing:
        # A transfer is dropped only when two looks, each with headers of its own, agree (C26).
        seen = chain.round(asset=asset, addresses=addresses, from_block=state.head_number or 0)
        search = Search(chain, asset, seen, payments, suspects=search.missing)
        search.run()
    for payment in payments:
        found = search.found[payment.pk]
        if is_news(payment, seen, found, search.last, search.active[payment.pk]):
            _apply_one(payment, seen, found)
    return seen


def _apply_one(payment: PaymentRequest, seen: Round, found: Found) -> None:
    """One odd order must not stop the others: staff are told once, its facts are read again in the next round."""
    subject = f"payment:{payment.pk}"
    try:
        with transaction.atomic():
            apply(payment, seen, found)
            decisions.close_open(kind="payment_unreadable", subject=subject, reason="it could be written")
    except Exception as error:
        log.exception("payment_not_applied", payment=payment.pk)
        decisions.open_decision(
            kind="payment_unreadable",
            subject=subject,
            order_ref=payment.order.public_id,
            facts={"error": f"{type(error).__name__}: {error}"[:500]},
        )
