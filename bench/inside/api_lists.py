"""Two shops of different size, a process and a database each, that are asked for lists in turns (bench.api_lists)."""

import json
import logging
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection

import psycopg
from django.core import signing
from django.db import connection
from django.test import Client

from bench.api_lists import LIMIT, parser
from bench.inside import past_orders, shop
from orders.contact import clean_contact
from orders.models import Order
from partners.models import Partner
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from partners.services.place_order import OrderRequest, place_order

WARM_UP = 10
LARGE = "large"
LISTS = ("orders", "orders, in the middle", "events", "events, in the middle", "events of one order")
_CURSOR_SALT = "partners.cursor"


def main() -> int:
    asked = parser().parse_args()
    connection.close()
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url.rpartition("/")[0] + "/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {LARGE} TEMPLATE {url.rpartition('/')[2]}")
    large_url = f"{url.rpartition('/')[0]}/{LARGE}"
    sides = (_start(url, asked.orders), _start(large_url, asked.orders * asked.factor))
    for side in sides:
        side.recv()
    figures: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in LISTS}
    for _run in range(WARM_UP + asked.runs):
        for name, found in figures.items():
            for side, seconds in zip(sides, found, strict=True):
                side.send(name)
                seconds.append(side.recv())
    for side in sides:
        side.send("")
    return _report(figures, asked.orders, asked.factor, as_json=asked.json)


def _report(
    figures: Mapping[str, tuple[list[float], list[float]]], orders: int, factor: int, *, as_json: bool
) -> int:
    facts = {}
    for name, found in figures.items():
        small, large = (1000 * statistics.median(seconds[WARM_UP:]) for seconds in found)
        facts[name] = {
            "ratio": round(large / small, 3),
            "small_ms": round(small, 2),
            "large_ms": round(large, 2),
        }
    if as_json:
        sys.stdout.write(json.dumps(facts | {"limit": LIMIT, "orders": orders, "factor": factor}) + "\n")
    else:
        for name, fact in facts.items():
            sys.stdout.write(
                f"{name}: {fact['small_ms']} ms at {orders} orders, {fact['large_ms']} ms at {orders * factor}: "
                f"ratio {fact['ratio']} (at most {LIMIT})\n"
            )
    return 0 if all(fact["ratio"] <= LIMIT for fact in facts.values()) else 1


def _start(url: str, orders: int) -> "Connection[str, float]":
    """A shop in a process of its own, which reads its settings anew."""
    os.environ["DATABASE_URL"] = url
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    context.Process(target=_serve, args=(theirs, orders), daemon=True).start()
    return ours


def _serve(line: "Connection[float, str]", orders: int) -> None:
    # A line for each request would be a part of what is measured.
    logging.disable()
    shop.open_shop(nodes=2, addresses=5)
    partner = make_partner(name="Bench", slug="bench", mail="bench@gpu.example", actor="bench")
    past_orders.copy_order(partner, _one_order(partner), orders)
    shop.analyze()
    client = Client(headers={"authorization": f"Bearer {make_key(partner_id=partner.pk, actor='bench')[1]}"})
    paths = _paths(client, orders // 2)
    line.send(0.0)
    while name := line.recv():
        begin = time.perf_counter()
        answer = client.get(f"/api/v1/{paths[name]}", secure=True)
        seconds = time.perf_counter() - begin
        if answer.status_code != 200 or len(answer.json()["data"]) < past_orders.EVENTS_EACH:
            raise RuntimeError(f"{paths[name]} answered {answer.status_code}: {answer.content[-500:]!r}")
        line.send(seconds)


def _one_order(partner: Partner) -> Order:
    (quote_id,) = shop.quotes(1)
    place, pay_with = shop.acceptance(quote_id, 1)
    return place_order(
        partner=partner,
        request=OrderRequest(
            quote_id=quote_id,
            contact=clean_contact(name="Ada", email="ada@example.com", company="", language="en"),
            bill_to=None,
            keys=place.keys,
            pay_with=pay_with,
            terms_version=place.terms_version,
            notify=Order.Notify.BUYER,
            metadata={"customer": "4711"},
        ),
    )


def _paths(client: Client, middle: int) -> dict[str, str]:
    """Of each list; a place in the middle has a cursor as a partner gets it who has come that far."""
    first = client.get("/api/v1/orders", secure=True).json()
    binding, _last = signing.loads(first["next_cursor"], salt=_CURSOR_SALT)
    cursor = signing.dumps([binding, str(past_orders.BASE + middle)], salt=_CURSOR_SALT)
    event = past_orders.BASE + past_orders.EVENTS_EACH * middle
    values = (
        "orders",
        f"orders?cursor={cursor}",
        "events",
        f"events?after=evt_{event:012d}",
        f"orders/{first['data'][0]['id']}/events",
    )
    return dict(zip(LISTS, values, strict=True))


if __name__ == "__main__":
    sys.exit(main())
