"""Measures the production shape in one run (bench.load)."""

import http.client
import os
import re
import statistics
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection

from anchorgpu.services.ports import LOCALHOST
from bench.bare import make_stock
from bench.bare_quote import make_table
from bench.inside import load_report, shop
from bench.inside.api_quote import BODY
from bench.inside.checkout_rate import Call, headers_of, order_call
from bench.inside.pages import write_bare
from bench.inside.polling import Looks, Page, poll
from bench.inside.shape import chain, programs
from bench.inside.visit import Visitor
from bench.load import POLL_LIMIT, parser
from billing.services.checkout import CheckoutRequest, checkout
from orders.models import Order
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner

CLIENTS = 4
WARM_UP = 20
PAGES = {"catalogue": "/en/catalog/", "accelerator page": "/en/catalog/b200-180/"}
# One page is asked for so often by itself, to have many figures within seconds.
ALONE_EVERY, ALONE_SECONDS = 0.05, 10.0


@dataclass(frozen=True)
class Ask:
    """One request as a proxy passes it on, and the status that is no refusal."""

    method: str
    call: Call
    status: int


@dataclass
class Times:
    """Seconds of single requests, and requests a second of each turn."""

    seconds: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Twins:
    """What a buyer or a partner asks for, and the bare view that does the least such a thing can be."""

    name: str
    ours: Sequence[Ask]
    bare: Sequence[Ask]


def main() -> int:
    asked = parser().parse_args()
    call_command("collectstatic", interactive=False, verbosity=0)
    (Path(os.environ["BENCH_FOLDER"]) / "bare").mkdir()
    placed = asked.turns * asked.requests + WARM_UP
    with chain():
        tokens, quotes, key = _fill(buyers=asked.buyers, orders=placed)
        with programs() as (port, _running):
            facts = _measured(port, asked, tokens=tokens, quotes=quotes, key=key)
    expected = asked.buyers + placed
    facts["orders"] = {"placed": Order.objects.count(), "expected": expected}
    connection.close()
    load_report.tell(facts, asked)
    return 0 if _kept(facts) else 1


def _fill(*, buyers: int, orders: int) -> tuple[list[str], list[str], str]:
    """A shop with an order for each buyer, quotes for the orders to come, and a partner's key."""
    count = buyers + orders
    shop.open_shop(nodes=count * 2 // shop.CARDS_PER_NODE + 25, addresses=count + 50)
    quotes = shop.quotes(count)
    tokens = []
    for number, quote in enumerate(quotes[:buyers]):
        place, pay_with = shop.acceptance(quote, number)
        tokens.append(checkout(CheckoutRequest(place=place, pay_with=pay_with)).token)
    make_stock(orders)
    make_table()
    shop.analyze()
    partner = make_partner(name="Bench", slug="bench", mail="bench@gpu.example", actor="bench")
    return tokens, quotes[buyers:], make_key(partner_id=partner.pk, actor="bench")[1]


def _measured(
    port: int, asked: Namespace, *, tokens: Sequence[str], quotes: Sequence[str], key: str
) -> dict[str, Any]:
    visitor = Visitor(port)
    facts: dict[str, Any] = {"views": {}}
    with ThreadPoolExecutor(CLIENTS) as threads:
        for twins in _twins(visitor, quotes, key, asked):
            ours, bare = _in_turns(threads, port, twins, asked)
            facts["views"][twins.name] = load_report.compared(ours, bare)
    # The connection of before has been silent for too long.
    visitor = Visitor(port)
    pages = [_page(visitor, token) for token in tokens]
    every = float(_interval(visitor, tokens[0]))
    alone = poll(port, pages[:1], every=ALONE_EVERY, seconds=ALONE_SECONDS)
    bare_alone = poll(port, [Page(f"/bench/look/{tokens[0]}/")], every=ALONE_EVERY, seconds=ALONE_SECONDS)
    poll(port, pages, every=every, seconds=every)
    before = time.process_time()
    many = poll(port, pages, every=every, seconds=asked.seconds)
    facts["polling"] = _polling(alone, bare_alone, many, every=every, buyers=len(pages)) | {
        "client_cpu": round((time.process_time() - before) / asked.seconds, 2)
    }
    return facts


def _twins(visitor: Visitor, quotes: Sequence[str], key: str, asked: Namespace) -> list[Twins]:
    count = asked.turns * asked.requests + WARM_UP
    found = []
    for name, target in PAGES.items():
        slug = name.partition(" ")[0]
        write_bare(slug, visitor.get(target).decode())
        headers = headers_of(0) | {"Accept-Encoding": "gzip"}
        ours = Ask("GET", Call(target, b"", headers), 200)
        bare = Ask("GET", Call(f"/bench/bare/{slug}/", b"", headers), 200)
        found.append(Twins(name, [ours] * count, [bare] * count))
    signed = headers_of(0) | {"Content-Type": "application/json"}
    quote = Ask(
        "POST", Call("/api/v1/quotes", BODY.encode(), signed | {"Authorization": f"Bearer {key}"}), 201
    )
    sign = Ask("POST", Call("/bench/sign", BODY.encode(), signed), 201)
    found.append(Twins("quote call", [quote] * count, [sign] * count))
    orders = [Ask("POST", order_call(5000 + number, quote), 303) for number, quote in enumerate(quotes)]
    take = Ask("POST", Call("/bench/take-one", b"", headers_of(0)), 201)
    found.append(Twins("order placement", orders, [take] * count))
    return found


def _in_turns(threads: ThreadPoolExecutor, port: int, twins: Twins, asked: Namespace) -> tuple[Times, Times]:
    ours, bare = Times(), Times()
    for asks in (twins.ours, twins.bare):
        _send(threads, port, asks[:WARM_UP], Times())
    for turn in range(asked.turns):
        begin = WARM_UP + turn * asked.requests
        _send(threads, port, twins.ours[begin : begin + asked.requests], ours)
        _send(threads, port, twins.bare[begin : begin + asked.requests], bare)
    return ours, bare


def _send(threads: ThreadPoolExecutor, port: int, asks: Sequence[Ask], times: Times) -> None:
    begin = time.perf_counter()
    parts = list(threads.map(lambda number: _each(port, asks[number::CLIENTS]), range(CLIENTS)))
    times.rates.append(len(asks) / (time.perf_counter() - begin))
    times.seconds += [seconds for part in parts for seconds in part]


def _each(port: int, asks: Sequence[Ask]) -> list[float]:
    """Raises RuntimeError where one is answered otherwise: a refusal is quick and no work."""
    link = http.client.HTTPConnection(LOCALHOST, port, timeout=60)
    found = []
    for ask in asks:
        begin = time.perf_counter()
        link.request(ask.method, ask.call.path, body=ask.call.body, headers=ask.call.headers)
        answer = link.getresponse()
        text = answer.read()
        found.append(time.perf_counter() - begin)
        if answer.status != ask.status:
            raise RuntimeError(f"{ask.call.path} answered {answer.status}: {text[-500:]!r}")
    link.close()
    return found


def _page(visitor: Visitor, token: str) -> Page:
    """As the page itself says where it looks for news."""
    found = re.search(r'hx-get="([^"]*/live/[^"]*)"', visitor.get(f"/en/orders/{token}/").decode())
    if found is None:
        raise RuntimeError(f"The page of order {token} does not look for news.")
    return Page(found[1].replace("&amp;", "&"))


def _interval(visitor: Visitor, token: str) -> str:
    found = re.search(r'hx-trigger="every (\d+)s"', visitor.get(f"/en/orders/{token}/").decode())
    return found[1] if found is not None else "5"


def _polling(alone: Looks, bare: Looks, many: Looks, *, every: float, buyers: int) -> dict[str, Any]:
    one, p95 = statistics.median(alone.seconds), load_report.percentile(many.seconds, 95)
    return {
        "buyers": buyers,
        "every_seconds": every,
        "looks": len(many.seconds),
        "statuses": {str(status): count for status, count in sorted(many.statuses.items())},
        "ratio": round(p95 / one, 2),
        "limit": POLL_LIMIT,
        "one_median_ms": round(one * 1000, 2),
        "bare_median_ms": round(statistics.median(bare.seconds) * 1000, 2),
        "many_median_ms": round(statistics.median(many.seconds) * 1000, 2),
        "many_p95_ms": round(p95 * 1000, 2),
        "many_p99_ms": round(load_report.percentile(many.seconds, 99) * 1000, 2),
    }


def _kept(facts: dict[str, Any]) -> bool:
    return bool(
        facts["polling"]["ratio"] < POLL_LIMIT
        and set(facts["polling"]["statuses"]) <= {"200", "304"}
        and facts["orders"]["placed"] == facts["orders"]["expected"]
    )


if __name__ == "__main__":
    sys.exit(main())
