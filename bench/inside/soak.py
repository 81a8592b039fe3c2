"""Drives the traffic and reads the memory (bench.soak)."""

import http.client
import json
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection

from anchorgpu.services.ports import LOCALHOST
from anchorgpu.services.process import Process
from bench.inside import shop
from bench.inside.api_quote import BODY
from bench.inside.checkout_rate import headers_of, order_call
from bench.inside.shape import chain, programs
from bench.inside.visit import HOST
from bench.soak import GROWTH_LIMIT, parser
from bench.worker import memory_mb
from billing.models import PaymentRequest
from fleet.lifecycle import LeaseStatus
from fleet.models import Lease
from orders.models import Order
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from tests.chain.lab import ChainLab

# The server lets go of a connection that is silent for longer.
KEPT_SECONDS = 4.0
LANGUAGES = ("en", "de", "fr", "ru")
PAGES = ("", "catalog/", "catalog/b200-180/", "catalog/h200-sxm-141/", "plan/", "guides/", "legal/terms/")
# As many orders are on their way or open at any time.
OPEN_LEASES = 15
VISIT_EVERY, QUOTE_EVERY, ORDER_EVERY, SAMPLE_EVERY = 0.1, 0.5, 6.0, 5.0


@dataclass
class Traffic:
    """Loops in threads, until `over` is set; `failed` says what was answered otherwise than it should."""

    port: int
    over: threading.Event = field(default_factory=threading.Event)
    done: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def loop(self, name: str, every: float, act: Callable[[http.client.HTTPConnection, int], None]) -> None:
        thread = threading.Thread(target=self._run, args=(name, every, act), name=name)
        self.threads.append(thread)
        thread.start()

    def stop(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _run(self, name: str, every: float, act: Callable[[http.client.HTTPConnection, int], None]) -> None:
        link, number = http.client.HTTPConnection(LOCALHOST, self.port, timeout=60), 0
        try:
            while not self.over.wait(every):
                try:
                    act(link, number)
                    self.done[name] += 1
                    if every > KEPT_SECONDS:
                        link.close()
                except (OSError, http.client.HTTPException, Refused) as error:
                    self.failed.append(f"{name}: {error}")
                    link.close()
                number += 1
        finally:
            link.close()
            connection.close()


class Refused(Exception):
    """An answer that is none of those that were expected."""


def main() -> int:
    asked = parser().parse_args()
    call_command("collectstatic", interactive=False, verbosity=0)
    seconds = asked.minutes * 60
    count = int(seconds / ORDER_EVERY) + 20
    with chain() as lab:
        shop.open_shop(nodes=count * 2 // shop.CARDS_PER_NODE + 25, addresses=count + 50)
        quotes = shop.quotes(count)
        partner = make_partner(name="Bench", slug="bench", mail="bench@gpu.example", actor="bench")
        key = make_key(partner_id=partner.pk, actor="bench")[1]
        connection.close()
        with programs() as (port, running):
            traffic = Traffic(port)
            traffic.loop("visits", VISIT_EVERY, visit)
            traffic.loop("quotes", QUOTE_EVERY, lambda link, _number: quote(link, key))
            traffic.loop("orders", ORDER_EVERY, lambda link, number: order(link, lab, number, quotes))
            try:
                samples = watch(running, seconds=seconds)
            finally:
                traffic.stop()
    leases = Lease.objects.filter(status__in=(LeaseStatus.READY, LeaseStatus.DEGRADED)).count()
    return report(samples, traffic, asked.minutes, leases_open=leases, as_json=asked.json)


def visit(link: http.client.HTTPConnection, number: int) -> None:
    """A page after the other; every fifth time the news of the newest order."""
    if number % 5 == 4 and (newest := Order.objects.order_by("-pk").first()) is not None:
        ask(link, "GET", f"/en/orders/{newest.token}/live/?mark=none", 200)
    else:
        language, page = LANGUAGES[number % len(LANGUAGES)], PAGES[number // len(LANGUAGES) % len(PAGES)]
        ask(link, "GET", f"/{language}/{page}", 200)


def quote(link: http.client.HTTPConnection, key: str) -> None:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    ask(link, "POST", "/api/v1/quotes", 201, BODY.encode(), headers)


def order(link: http.client.HTTPConnection, lab: ChainLab, number: int, quotes: Sequence[str]) -> None:
    """Placed as a browser does it, and paid on the chain; a lease of a while ago is ended by its buyer, so that what
    is open stays the same."""
    call = order_call(number, quotes[number])
    ask(link, "POST", call.path, 303, call.body, call.headers)
    payment = PaymentRequest.objects.select_related("address").get(order__quote__public_id=quotes[number])
    lab.send("TestToken", lab.usdc, "transfer", payment.crypto.address, payment.crypto.due_units)
    if number >= OPEN_LEASES:
        end(link, Order.objects.get(quote__public_id=quotes[number - OPEN_LEASES]))


def end(link: http.client.HTTPConnection, row: Order) -> None:
    path, token = f"/en/orders/{row.token}/end-early/", "b" * 32
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Cookie": f"csrftoken={token}",
        "Referer": f"https://{HOST}{path}",
    }
    ask(link, "POST", path, 303, f"confirm=on&csrfmiddlewaretoken={token}".encode(), headers)


def ask(
    link: http.client.HTTPConnection,
    method: str,
    path: str,
    expected: int,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
) -> None:
    link.request(method, path, body=body or None, headers=headers_of(0) | (headers or {}))
    answer = link.getresponse()
    text = answer.read()
    if answer.status != expected:
        raise Refused(f"{path} answered {answer.status}: {text[-200:]!r}")


def watch(running: Sequence[Process], *, seconds: float) -> dict[str, list[tuple[float, float]]]:
    """Name of a process -> (seconds since the start, MB), each few seconds."""
    found: dict[str, list[tuple[float, float]]] = {}
    begin = time.monotonic()
    while (since := time.monotonic() - begin) < seconds:
        for process in running:
            for name, pid in _tree(process):
                found.setdefault(name, []).append((since, memory_mb(pid)[0]))
        time.sleep(SAMPLE_EVERY)
    return found


def _tree(process: Process) -> list[tuple[str, int]]:
    """The process and its children, each by a name of its own."""
    name = process.name.removeprefix("The ")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    return [(name, process.pid)] + [(f"{name} {pid}", int(pid)) for pid in children]


def report(
    samples: dict[str, list[tuple[float, float]]],
    traffic: Traffic,
    minutes: float,
    *,
    leases_open: int,
    as_json: bool,
) -> int:
    """Tell, and judge: 1 too where nothing was leased at the end, since then nothing was watched."""
    third, last = minutes * 20, minutes * 60 - 60
    memory = {}
    for name, values in samples.items():
        early = [mb for since, mb in values if third - 30 <= since < third + 30]
        late = [mb for since, mb in values if since >= last]
        # One that was replaced on the way has no figure at both ends.
        if early and late:
            first, end = statistics.median(early), statistics.median(late)
            memory[name] = {
                "third_mb": round(first, 1),
                "end_mb": round(end, 1),
                "ratio": round(end / first, 3),
            }
    facts: dict[str, Any] = {
        "minutes": minutes,
        "memory": memory,
        "limit": GROWTH_LIMIT,
        "done": dict(traffic.done),
        "failed": traffic.failed[:10],
        "leases_open": leases_open,
    }
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        for name, figures in memory.items():
            sys.stdout.write(
                f"{name}: {figures['third_mb']} MB at a third, {figures['end_mb']} MB at the end, "
                f"ratio {figures['ratio']}\n"
            )
        sys.stdout.write(
            f"{minutes:g} minutes: {dict(traffic.done)}, {facts['leases_open']} leases open, "
            f"{len(traffic.failed)} failures {facts['failed']}\n"
        )
    grown = [name for name, figures in memory.items() if figures["ratio"] > GROWTH_LIMIT]
    return 0 if memory and not grown and not traffic.failed and leases_open else 1


if __name__ == "__main__":
    sys.exit(main())
