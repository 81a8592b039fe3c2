"""Sends quotes and bare requests in turns and reads what the worker has used (bench.api_quote)."""

import http.client
import json
import os
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path

from django.db import connection

from anchorgpu.services.ports import LOCALHOST, free_port
from bench.api_quote import LIMIT, parser
from bench.bare_quote import make_table
from bench.inside import shop
from bench.worker import cpu_seconds, web_server, worker_of
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner

HOST = "gpu.example"
WARM_UP = 40
BARE = "bare"
BODY = json.dumps(
    {
        "lot": "b200-180x2",
        "lots": 1,
        "days": 7,
        "image": "pt-cu128",
        "options": [{"code": "nvme-extra", "quantity": 1}],
        "starts_at": None,
        "bill_to": {"country": "DE", "kind": "consumer", "vat_id": None},
    }
)
PATHS = {BARE: "/bench/sign", "with a key": "/api/v1/quotes", "without a key": "/api/v1/quotes"}


class Caller:
    """One connection, as a proxy passes requests on."""

    def __init__(self, port: int, key: str) -> None:
        self._link = http.client.HTTPConnection(LOCALHOST, port, timeout=60)
        self._key = key

    def is_answered(self) -> bool:
        try:
            return self._send("GET", "/healthz", {}) == 200
        except OSError:
            self._link.close()
            return False

    def ask(self, kind: str, *, times: int) -> None:
        """Raises RuntimeError where an answer is not 201: a refusal is quick and no quote."""
        key = {"Authorization": f"Bearer {self._key}"} if kind == "with a key" else {}
        for _number in range(times):
            status = self._send("POST", PATHS[kind], key | {"Content-Type": "application/json"}, BODY)
            if status != 201:
                raise RuntimeError(f"{PATHS[kind]} answered {status}.")

    def _send(self, method: str, path: str, headers: Mapping[str, str], body: str | None = None) -> int:
        proxied = {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
        self._link.request(method, path, body=body, headers=proxied | dict(headers))
        answer = self._link.getresponse()
        answer.read()
        return answer.status


def main() -> int:
    asked = parser().parse_args()
    shop.open_shop(nodes=10, addresses=10)
    # The bare view signs what a quote says.
    shop.quotes(1, days=7)
    make_table()
    shop.analyze()
    partner = make_partner(name="Bench", slug="bench", mail="bench@gpu.example", actor="bench")
    key = make_key(partner_id=partner.pk, actor="bench")[1]
    connection.close()
    port = free_port()
    server = web_server(port, log_file=Path(os.environ["BENCH_FOLDER"]) / "web.log")
    server.start()
    try:
        caller = Caller(port, key)
        server.wait_until(caller.is_answered, seconds=60)
        figures = _measured(caller, worker_of(server.pid), asked.turns, asked.requests)
    finally:
        server.stop()
    return _report(figures, as_json=asked.json)


def _measured(caller: Caller, worker: int, turns: int, requests: int) -> dict[str, list[float]]:
    """CPU seconds of the worker for one request, one figure for each turn."""
    figures: dict[str, list[float]] = {kind: [] for kind in PATHS}
    for kind in PATHS:
        caller.ask(kind, times=WARM_UP)
    for _turn in range(turns):
        for kind, found in figures.items():
            before = cpu_seconds(worker)
            caller.ask(kind, times=requests)
            found.append((cpu_seconds(worker) - before) / requests)
    return figures


def _report(figures: Mapping[str, list[float]], *, as_json: bool) -> int:
    bare = sum(figures[BARE])
    facts = {
        kind: {
            "ratio": round(sum(found) / bare, 3),
            "limit": LIMIT,
            "ms": round(statistics.median(found) * 1000, 2),
            "bare_ms": round(statistics.median(figures[BARE]) * 1000, 2),
        }
        for kind, found in figures.items()
        if kind != BARE
    }
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        for kind, fact in facts.items():
            sys.stdout.write(
                f"quote {kind}: ratio {fact['ratio']} (at most {LIMIT}), {fact['ms']} ms of CPU against "
                f"{fact['bare_ms']} ms of the bare view\n"
            )
    return 0 if all(fact["ratio"] <= LIMIT for fact in facts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
