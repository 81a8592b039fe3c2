"""Times the two views in turns, so that what else runs on the machine meets both alike."""

import http.client
import json
import os
import statistics
import sys
import time
import uuid
from argparse import Namespace
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import asyncssh
from django.db import connection

from anchorgpu.services.ports import LOCALHOST, free_port
from anchorgpu.services.process import Process
from bench.bare import make_stock
from bench.checkout_rate import LIMIT, parser
from bench.inside import shop
from orders.models import Order

HOST = "gpu.example"
TURNS = 10
WARM_UP = 40
# The bare view is much quicker: as many more of it, so that a turn of each takes about as long.
BARE_FOR_EACH = 4


@dataclass(frozen=True)
class Call:
    """One request as a proxy passes it on."""

    path: str
    body: bytes
    headers: dict[str, str]


@dataclass(frozen=True)
class Rates:
    """Requests a second, one figure for each turn."""

    checkout: list[float]
    bare: list[float]

    @property
    def ratio(self) -> float:
        return statistics.median(a / b for a, b in zip(self.checkout, self.bare, strict=True))


def main() -> int:
    asked = parser().parse_args()
    each = asked.orders // TURNS
    total = WARM_UP + each * TURNS
    shop.open_shop(nodes=total * 2 // shop.CARDS_PER_NODE + 25, addresses=total + 50)
    orders = [order_call(number, quote) for number, quote in enumerate(shop.quotes(total))]
    make_stock((WARM_UP + each * TURNS) * BARE_FOR_EACH)
    shop.analyze()
    connection.close()
    port = free_port()
    server = _server(port, asked.workers, asked.threads)
    server.start()
    try:
        server.wait_until(lambda: _answers(port), seconds=60)
        with ThreadPoolExecutor(asked.clients) as threads:
            rates = _measure(threads, asked.clients, port, orders, each)
    finally:
        server.stop()
    return _report(rates, asked, total)


def _measure(threads: ThreadPoolExecutor, clients: int, port: int, orders: list[Call], each: int) -> Rates:
    bare = Call("/bench/take-one", b"", headers_of(0))
    _send_all(threads, clients, port, orders[:WARM_UP], 303)
    _send_all(threads, clients, port, [bare] * WARM_UP * BARE_FOR_EACH, 201)
    rates = Rates([], [])
    for turn in range(TURNS):
        begin = WARM_UP + turn * each
        rates.checkout.append(_send_all(threads, clients, port, orders[begin : begin + each], 303))
        rates.bare.append(_send_all(threads, clients, port, [bare] * each * BARE_FOR_EACH, 201))
    return rates


def _send_all(
    threads: ThreadPoolExecutor, clients: int, port: int, calls: Sequence[Call], status: int
) -> float:
    """Requests a second. Raises where one is answered otherwise: a refusal is quick and no sale."""
    begin = time.perf_counter()
    parts = threads.map(lambda number: _send(port, calls[number::clients], status), range(clients))
    sent = sum(parts)
    return sent / (time.perf_counter() - begin)


def _send(port: int, calls: Sequence[Call], status: int) -> int:
    link = http.client.HTTPConnection(LOCALHOST, port, timeout=60)
    for call in calls:
        link.request("POST", call.path, body=call.body, headers=call.headers)
        answer = link.getresponse()
        text = answer.read()
        if answer.status != status:
            raise RuntimeError(f"{call.path} answered {answer.status}: {text[-2000:]!r}")
    link.close()
    return len(calls)


def order_call(number: int, quote_id: str) -> Call:
    """What a browser sends from the page of a quote: each buyer has an address and a key of his own."""
    token, boundary = "b" * 32, uuid.uuid4().hex
    key = asyncssh.generate_private_key("ssh-ed25519").export_public_key("openssh").decode()
    fields = {
        "csrfmiddlewaretoken": token,
        "name": "Ada Lovelace",
        "email": f"buyer{number}@example.com",
        "company": "",
        "ssh_keys": key,
        "pay_with": "local:USDC",
        "accept_terms": "on",
        "replaces": "",
    }
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    headers = headers_of(number) | {
        "Content-Type": f"multipart/form-data; boundary={boundary}",
        "Cookie": f"csrftoken={token}",
        "Referer": f"https://{HOST}/en/quotes/{quote_id}/",
    }
    body = "".join([*parts, f"--{boundary}--\r\n"]).encode()
    return Call(f"/en/quotes/{quote_id}/order/", body, headers)


def headers_of(number: int) -> dict[str, str]:
    return {
        "Host": HOST,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-For": f"10.{number // 250}.{number % 250}.7",
    }


def _server(port: int, workers: int, threads: int) -> Process:
    """gunicorn with the shop's own configuration. Log lines go to a file, as they do where it is deployed."""
    return Process(
        name="The web server",
        command=[
            sys.executable,
            "-m",
            "gunicorn",
            "--config",
            "python:anchorgpu.web",
            "anchorgpu.wsgi:application",
        ],
        log_file=Path(os.environ["BENCH_FOLDER"]) / "web.log",
        env=dict(os.environ)
        | {"WEB_LISTEN": f"{LOCALHOST}:{port}", "WEB_WORKERS": str(workers), "WEB_THREADS": str(threads)},
    )


def _answers(port: int) -> bool:
    link = http.client.HTTPConnection(LOCALHOST, port, timeout=5)
    try:
        link.request("GET", "/healthz", headers=headers_of(0))
        return link.getresponse().status == 200
    except OSError:
        return False
    finally:
        link.close()


def _report(rates: Rates, asked: Namespace, total: int) -> int:
    placed = Order.objects.count()
    facts = {
        "ratio": round(rates.ratio, 3),
        "limit": LIMIT,
        "checkout_per_second": round(statistics.median(rates.checkout), 1),
        "bare_per_second": round(statistics.median(rates.bare), 1),
        "orders": placed,
        **{name: getattr(asked, name) for name in ("workers", "threads", "clients")},
    }
    if asked.json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        sys.stdout.write(
            f"checkout {facts['checkout_per_second']}/s, bare view {facts['bare_per_second']}/s, "
            f"ratio {facts['ratio']} (at least {LIMIT}); {placed} orders, {facts['workers']} worker with "
            f"{facts['threads']} threads, {facts['clients']} connections\n"
        )
    return 0 if rates.ratio >= LIMIT and placed == total else 1


if __name__ == "__main__":
    sys.exit(main())
