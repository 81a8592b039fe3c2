"""Two shops of different size, a process and a database each, that place the same order in turns (bench.growth)."""

import json
import multiprocessing
import os
import statistics
import sys
import time
from multiprocessing.connection import Connection

import psycopg
from django.db import connection, transaction

from bench.growth import LIMIT, parser
from bench.inside import shop
from billing.services.checkout import CheckoutRequest, checkout
from orders.services.cancel import cancel

WARM_UP = 20
LARGE = "large"


def main() -> int:
    asked = parser().parse_args()
    connection.close()
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url.rpartition("/")[0] + "/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {LARGE} TEMPLATE {url.rpartition('/')[2]}")
    small = _start(url, asked.cards, asked.past, asked.runs)
    large = _start(
        f"{url.rpartition('/')[0]}/{LARGE}", asked.cards * asked.factor, asked.past * asked.factor, asked.runs
    )
    for side in (small, large):
        side.recv()
    seconds: tuple[list[float], list[float]] = ([], [])
    for _run in range(WARM_UP + asked.runs):
        for side, found in zip((small, large), seconds, strict=True):
            side.send(True)
            found.append(side.recv())
    for side in (small, large):
        side.send(False)
    before, after = (1000 * statistics.median(found[WARM_UP:]) for found in seconds)
    ratio = after / before
    if asked.json:
        facts = {
            "ratio": round(ratio, 3),
            "limit": LIMIT,
            "small_ms": round(before, 2),
            "large_ms": round(after, 2),
        }
        sys.stdout.write(json.dumps(facts | vars(asked)) + "\n")
    else:
        sys.stdout.write(
            f"checkout {before:.1f} ms with {asked.cards} cards and {asked.past} past reservations, {after:.1f} ms "
            f"with {asked.factor} times both: ratio {ratio:.2f} (at most {LIMIT}), {asked.runs} runs each\n"
        )
    return 0 if ratio <= LIMIT else 1


def _start(url: str, cards: int, past: int, runs: int) -> "Connection[bool, float]":
    """A shop in a process of its own, which reads its settings anew."""
    os.environ["DATABASE_URL"] = url
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    context.Process(target=_serve, args=(theirs, cards, past, WARM_UP + runs), daemon=True).start()
    return ours


def _serve(line: "Connection[float, bool]", cards: int, past: int, runs: int) -> None:
    shop.open_shop(nodes=cards // shop.CARDS_PER_NODE, addresses=runs + 10)
    shop.add_leases(share=6)
    shop.add_history(past)
    wanted = [
        CheckoutRequest(place=place, pay_with=pay_with)
        for place, pay_with in (
            shop.acceptance(quote, number) for number, quote in enumerate(shop.quotes(runs))
        )
    ]
    line.send(0.0)
    while wanted and line.recv():
        request = wanted.pop()
        begin = time.perf_counter()
        order = checkout(request)
        line.send(time.perf_counter() - begin)
        with transaction.atomic():
            cancel(order_id=order.public_id, actor="buyer")


if __name__ == "__main__":
    sys.exit(main())
