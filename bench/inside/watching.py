"""Counts calls and times the catch-up (bench.watching)."""

import json
import os
import secrets
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from web3 import HTTPProvider, Web3

from anchorgpu.services.anvil import Anvil
from bench.watching import FEW, LIMIT, parser
from billing.addresses import checksum_address
from billing.models import ChainState, PaymentView, Transfer
from billing.rails.decode import TRANSFER_TOPIC
from billing.rails.logs import BLOCKS_PER_CALL
from billing.services.checkout import CheckoutRequest, CryptoChoice, checkout
from billing.services.fill_pool import fill_pool
from billing.services.read_prices import read_prices
from billing.services.watch import watch_network
from core import clock
from orders.models import Order
from tests import scenario
from tests.chain.endpoints import FaultyEndpoint
from tests.chain.lab import FINALITY, ChainLab, network_table
from tests.many_payments import open_many

SLUG = "local"
PER_TRANSACTION = 50
ROUNDS = 5


@dataclass
class Stand:
    """The chain, a counting endpoint in front of it, and orders in both kinds of asset."""

    lab: ChainLab
    counted: FaultyEndpoint
    token: Order
    native: Order

    def use(self, *urls: str) -> None:
        file = Path(os.environ["BENCH_FOLDER"]) / "watched.toml"
        file.write_text(network_table(self.lab, urls=urls, native=True, multicall=True), encoding="utf-8")
        settings.EVM_NETWORKS_FILE = str(file)


def main() -> int:
    options = parser().parse_args()
    # The node keeps the newest states only: those of ten thousand blocks would fill the disk.
    anvil = Anvil(log_file=Path(os.environ["BENCH_FOLDER"]) / "anvil.log", extra=("--prune-history", "300"))
    anvil.start()
    lab = ChainLab(anvil)
    counted = FaultyEndpoint(anvil.url, lambda method, params, forward: forward(method, *params))
    try:
        found = _measure(lab, counted, options)
    finally:
        counted.close()
        anvil.stop()
    _tell(found, as_json=options.json)
    return 0 if found["calls_equal"] and found["ratio"] <= LIMIT else 1


def _measure(lab: ChainLab, counted: FaultyEndpoint, options: Any) -> dict[str, Any]:
    stand = _open(lab, counted)
    _close(stand.native)
    open_many(stand.token, FEW - 1)
    few, few_seconds = _round(stand)
    open_many(stand.token, options.open - FEW)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    many, many_seconds = _round(stand)
    native = _native(stand, options.native)
    ours, theirs, matched = _catch_up(stand, options)
    # The first turn writes what it finds, the others find it written: the slower of the two ways counts.
    own_seconds = max(ours[0], statistics.median(ours))
    return {
        "open_few": FEW,
        "open_many": PaymentView.objects.filter(status="awaiting").count() - options.native,
        "calls_per_block_few": sum(few.values()),
        "calls_per_block_many": sum(many.values()),
        "calls_equal": few == many,
        "seconds_per_round_few": round(few_seconds, 3),
        "seconds_per_round_many": round(many_seconds, 3),
        "open_native": options.native,
        "calls_per_block_with_native": sum(native.values()),
        "blocks": options.blocks,
        "transfers_in_them": options.transfers,
        "own_transfers_found": matched,
        "catch_up_seconds": round(own_seconds, 3),
        "web3_get_logs_seconds": round(statistics.median(theirs), 3),
        "ratio": round(own_seconds / statistics.median(theirs), 2),
    }


def _open(lab: ChainLab, counted: FaultyEndpoint) -> Stand:
    stand = Stand.__new__(Stand)
    stand.lab, stand.counted = lab, counted
    stand.use()
    scenario.open_shop(offered=False)
    lab.say_price(lab.feed, 2_000 * 10**8, clock.now())
    lab.say_price(lab.second_feed, 2_000 * 10**18, clock.now())
    lab.mine(FINALITY)
    watch_network(SLUG)
    fill_pool()
    read_prices()
    stand.token, stand.native = (_order(asset) for asset in ("USDC", "ETH"))
    return stand


def _order(asset: str) -> Order:
    place = scenario.place_request(scenario.quote())
    return checkout(CheckoutRequest(place=place, pay_with=CryptoChoice(SLUG, asset)))


def _close(order: Order) -> None:
    """Out of what is open, as after its expiry."""
    PaymentView.objects.filter(payment=order.payment).update(
        status="expired", unpaid_confirmed_at=clock.now(), watch_until=clock.now()
    )


def _round(stand: Stand) -> tuple[Counter[str], float]:
    """Calls of a round for one new block, and its time; the daily look at old addresses is done before."""
    ChainState.objects.update(swept_at=clock.system_now(), swept_payment=0)
    stand.use(stand.counted.url)
    watch_network(SLUG)
    seconds, rounds = [], []
    for _ in range(ROUNDS):
        stand.lab.mine()
        stand.counted.requests.clear()
        before = time.perf_counter()
        if not watch_network(SLUG):
            raise RuntimeError("the chain could not be read")
        seconds.append(time.perf_counter() - before)
        rounds.append(Counter(call for request in stand.counted.requests for call in request))
    if any(other != rounds[0] for other in rounds):
        raise RuntimeError("rounds over the same kind of block cost differently")
    return rounds[0], statistics.median(seconds)


def _native(stand: Stand, count: int) -> Counter[str]:
    open_many(stand.native, count)
    calls, _seconds = _round(stand)
    return calls


def _catch_up(stand: Stand, options: Any) -> tuple[list[float], list[float], int]:
    """Seconds of each turn, and how many transfers to our own addresses the worker found."""
    stand.use()
    watch_network(SLUG)
    state = ChainState.objects.get(network=SLUG)
    began = {"cursor_number": state.cursor_number, "cursor_hash": state.cursor_hash}
    _fill(stand, options)
    web3 = Web3(HTTPProvider(stand.lab.anvil.url))
    ours, theirs = [], []
    for _ in range(options.turns):
        ChainState.objects.update(**began)
        ours.append(_timed(lambda: watch_network(SLUG)))
        theirs.append(_timed(lambda: _web3_logs(web3, stand.lab, int(state.cursor_number or 0))))
    return ours, theirs, Transfer.objects.count()


def _fill(stand: Stand, options: Any) -> None:
    """Blocks with transfers of strangers, and a hundredth of a transaction's worth of payments to us."""
    lab, transactions = stand.lab, max(1, options.transfers // PER_TRANSACTION)
    gap = max(1, options.blocks // transactions - 1)
    for number in range(transactions):
        to = [checksum_address("0x" + secrets.token_hex(20)) for _ in range(PER_TRANSACTION)]
        if number % 20 == 0:
            to[0] = stand.token.payment.crypto.address
        lab.send("Wallet", lab.wallet, "tokenMulti", lab.usdc, to, [1] * len(to))
        lab.mine(gap)


def _web3_logs(web3: Web3, lab: ChainLab, start: int) -> int:
    head, found = web3.eth.block_number, 0
    for first in range(start + 1, head + 1, BLOCKS_PER_CALL):
        found += len(
            web3.eth.get_logs(
                {
                    "fromBlock": first,
                    "toBlock": min(first + BLOCKS_PER_CALL - 1, head),
                    "address": [Web3.to_checksum_address(lab.usdc)],
                    "topics": [TRANSFER_TOPIC],
                }
            )
        )
    return found


def _timed(call: Any) -> float:
    before = time.perf_counter()
    if not call():
        raise RuntimeError("nothing was read")
    return time.perf_counter() - before


def _tell(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    sys.stdout.write(
        f"{found['calls_per_block_few']} calls for a block with {found['open_few']} open token orders "
        f"({found['seconds_per_round_few']} s), {found['calls_per_block_many']} with {found['open_many']} "
        f"({found['seconds_per_round_many']} s), {found['calls_per_block_with_native']} with "
        f"{found['open_native']} more in the native coin\n"
        f"{found['blocks']} blocks with {found['transfers_in_them']} transfers caught up in "
        f"{found['catch_up_seconds']} s, web3's get_logs alone {found['web3_get_logs_seconds']} s: "
        f"ratio {found['ratio']} (at most {LIMIT})\n"
    )


if __name__ == "__main__":
    sys.exit(main())
