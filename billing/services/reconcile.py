"""Compare the books with the chains, the card processor and our own rows. For the command alone: it imports rails."""

import time
from collections.abc import Iterable, Iterator, Mapping

from billing import offers, reconciled
from billing.models import CardFact, PaymentRequest, Rail, Refund
from billing.networks import Asset, Network
from billing.rails.card_seen import CardRailError, RefundSeen
from billing.rails.cards import card_rail
from billing.rails.errors import ChainError
from billing.rails.evm import ADDRESSES_PER_ROUND, Chain
from billing.reconciled import Difference

# Money that moves while we compare shows as a difference in one look and not in the next.
LOOKS = 3
BETWEEN_LOOKS_SECONDS = 3.0


def reconcile(*, looks: int = LOOKS, pause: float = BETWEEN_LOOKS_SECONDS) -> list[Difference]:
    """All differences that stand in each of `looks` looks. Reads only; needs the chains and, with bank cards, the
    processor. What cannot be read is a difference too: silence proves nothing."""
    found = list(_look())
    for _ in range(looks - 1):
        if not found:
            break
        time.sleep(pause)
        again = set(_look())
        found = [difference for difference in found if difference in again]
    return found


def _look() -> Iterator[Difference]:
    yield from reconciled.row_differences()
    yield from _chains()
    yield from _cards()


def _chains() -> Iterator[Difference]:
    """Every address that was ever issued, on every network, in every configured asset."""
    issued = list(
        PaymentRequest.objects.filter(address__isnull=False)
        .order_by("pk")
        .values_list("address__address", "order_id")
    )
    for network in offers.networks().values():
        try:
            yield from _chain(network, issued)
        except ChainError as error:
            yield Difference("chain", network.slug, "an answer", str(error))


def _chain(network: Network, issued: list[tuple[str, int]]) -> Iterator[Difference]:
    chain = Chain(network)
    tokens = [asset for asset in network.assets if asset.contract is not None]
    native = next((asset.symbol for asset in network.assets if asset.contract is None), network.native_symbol)
    for start in range(0, len(issued), ADDRESSES_PER_ROUND):
        group = issued[start : start + ADDRESSES_PER_ROUND]
        addresses = [address for address, _ in group]
        first = True
        for asset in tokens:
            seen = chain.round(asset=asset, addresses=addresses)
            yield from _compare(network, asset.symbol, group, seen.settled_balances, seen.latest_balances)
            if first:
                yield from _compare(network, native, group, seen.native_settled, seen.native_latest)
                first = False
        if first:
            coin = Asset(symbol=native, name=native, contract=None, decimals=18, price=None)
            seen = chain.round(asset=coin, addresses=addresses)
            yield from _compare(network, native, group, seen.native_settled, seen.native_latest)


def _compare(
    network: Network,
    symbol: str,
    group: Iterable[tuple[str, int]],
    settled: Mapping[str, int],
    latest: Mapping[str, int],
) -> Iterator[Difference]:
    """The books follow the settle rule of each sum: they stand somewhere between the settled block and the head."""
    booked = reconciled.deposits_booked(network.slug, symbol)
    for address, order in group:
        low, high = sorted((settled[address], latest[address]))
        units = booked.get(order, 0)
        if not low <= units <= high:
            yield Difference("chain", f"{network.slug}:{symbol} at {address}", f"{units} as booked", f"{low}")


def _cards() -> Iterator[Difference]:
    facts = CardFact.objects.filter(kind=CardFact.Kind.SESSION, payment_status="paid")
    paid = {row.reference: row for row in facts.order_by("pk")}
    if not paid:
        return
    rail = card_rail()
    for reference, fact in paid.items():
        try:
            session = rail.session(reference)
            refunds = rail.refunds(fact.payment_intent)
        except CardRailError as error:
            yield Difference("bank card", reference, "an answer", error.reason)
            continue
        said = f"{session.amount_minor} {session.currency} {session.payment_status}"
        if said != (known := f"{fact.amount_minor} {fact.currency} paid"):
            yield Difference("bank card", reference, known, said)
        yield from _card_refunds(fact.payment_intent, refunds)


def _card_refunds(payment_intent: str, refunds: list[RefundSeen]) -> Iterator[Difference]:
    """What the processor has sent back against what we know of."""
    known = set(
        CardFact.objects.filter(
            kind=CardFact.Kind.REFUND, payment_intent=payment_intent, status="succeeded"
        ).values_list("reference", flat=True)
    ) | set(
        Refund.objects.filter(
            rail=Rail.BANK_CARD, payment_intent=payment_intent, movements__isnull=False
        ).values_list("card_refund_id", flat=True)
    )
    done = {seen.refund_id for seen in refunds if seen.status == "succeeded"}
    for missing in sorted(done - known):
        yield Difference("bank card", f"refund {missing}", "known here", "only at the processor")
    for missing in sorted(known - done):
        yield Difference("bank card", f"refund {missing}", "succeeded at the processor", "not there")
