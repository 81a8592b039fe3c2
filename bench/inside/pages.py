"""Measures the public pages on one worker in one run."""

import json
import os
import re
import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection

from anchorgpu.services.ports import free_port
from anchorgpu.services.process import Process
from bench.inside import shop
from bench.inside.visit import Visitor, first_visit
from bench.pages import BLOCKING_LIMIT, CPU_LIMIT, MEMORY_LIMIT_MB, WEIGHT_LIMIT_BYTES, parser
from bench.worker import cpu_seconds, memory_mb, web_server, worker_of

PAGES = {"catalogue": "/en/catalog/", "accelerator": "/en/catalog/b200-180/"}
# What a stranger opens first.
FIRST = {**PAGES, "home": "/en/", "planner": "/en/plan/", "guides": "/en/guides/", "russian": "/ru/catalog/"}


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the worker for one request, one figure for each turn."""

    page: list[float]
    bare: list[float]

    @property
    def ratio(self) -> float:
        return sum(self.page) / sum(self.bare)


def main() -> int:
    asked = parser().parse_args()
    call_command("collectstatic", interactive=False, verbosity=0)
    shop.open_shop(nodes=10, addresses=10)
    shop.analyze()
    connection.close()
    port = free_port()
    server = web_server(port, log_file=Path(os.environ["BENCH_FOLDER"]) / "web.log")
    # The bare pages have to be there before templates are read.
    (Path(os.environ["BENCH_FOLDER"]) / "bare").mkdir()
    server.start()
    try:
        visitor = Visitor(port)
        server.wait_until(visitor.is_answered, seconds=60)
        facts = _measured(server, visitor, turns=asked.turns, requests=asked.requests)
    finally:
        server.stop()
    return _report(facts, as_json=asked.json)


def _measured(server: Process, visitor: Visitor, *, turns: int, requests: int) -> dict[str, Any]:
    worker = worker_of(server.pid)
    facts: dict[str, Any] = {"cpu": {}, "visits": {}}
    for name, target in FIRST.items():
        facts["visits"][name] = first_visit(visitor, target)
    for name, target in PAGES.items():
        write_bare(name, visitor.get(target).decode())
        for encoding in ("gzip", "identity"):
            cost = _compared(visitor, worker, target, f"/bench/bare/{name}/", encoding, turns, requests)
            facts["cpu"][f"{name}, {encoding}"] = {
                "ratio": round(cost.ratio, 3),
                "page_ms": round(statistics.median(cost.page) * 1000, 2),
                "bare_ms": round(statistics.median(cost.bare) * 1000, 2),
            }
    share, mapped = memory_mb(worker)
    facts["memory_mb"], facts["memory_mapped_mb"] = round(share, 1), round(mapped, 1)
    return facts


def write_bare(name: str, html: str) -> None:
    """The page's own bytes, its token replaced by another of the same length, as a template without a single tag."""
    text = re.sub(r'(name="csrfmiddlewaretoken" value=")\w+', lambda found: found[1] + "x" * 64, html)
    (Path(os.environ["BENCH_FOLDER"]) / "bare" / f"{name}.html").write_text(text, encoding="utf-8")


def _compared(
    visitor: Visitor, worker: int, page: str, bare: str, encoding: str, turns: int, requests: int
) -> Cost:
    cost = Cost([], [])
    for target in (page, bare):
        visitor.ask(target, encoding, times=20)
    for _turn in range(turns):
        for target, figures in ((page, cost.page), (bare, cost.bare)):
            before = cpu_seconds(worker)
            visitor.ask(target, encoding, times=requests)
            figures.append((cpu_seconds(worker) - before) / requests)
    return cost


def _report(facts: Mapping[str, Any], *, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        for name, figures in facts["cpu"].items():
            sys.stdout.write(
                f"{name}: ratio {figures['ratio']} (at most {CPU_LIMIT}), {figures['page_ms']} ms of CPU against "
                f"{figures['bare_ms']} ms of the bare page\n"
            )
        for name, visit in facts["visits"].items():
            sys.stdout.write(
                f"first visit, {name}: {visit['bytes']} bytes (at most {WEIGHT_LIMIT_BYTES}) in {visit['requests']} "
                f"requests, {visit['blocking']} of them blocking (at most {BLOCKING_LIMIT})\n"
            )
        sys.stdout.write(
            f"web worker: {facts['memory_mb']} MB (at most {MEMORY_LIMIT_MB}) with its share of what the server's "
            f"processes have in common, {facts['memory_mapped_mb']} MB with all of it\n"
        )
    kept = (
        all(figures["ratio"] <= CPU_LIMIT for figures in facts["cpu"].values())
        and all(visit["bytes"] <= WEIGHT_LIMIT_BYTES for visit in facts["visits"].values())
        and all(visit["blocking"] <= BLOCKING_LIMIT for visit in facts["visits"].values())
        and not any(visit["foreign"] for visit in facts["visits"].values())
        and facts["memory_mb"] <= MEMORY_LIMIT_MB
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
