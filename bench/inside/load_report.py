"""What bench.load tells: ratios first, then figures, the machine in general words."""

import json
import os
import platform
import statistics
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

from core import clock
from core.version import VERSION

if TYPE_CHECKING:
    from bench.inside.load import Times

RESULTS = Path(__file__).resolve().parent.parent / "RESULTS.md"


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


def compared(ours: "Times", bare: "Times") -> dict[str, float]:
    """Ratios of the medians; the rate is that of the server with four connections."""
    return {
        "time_ratio": round(statistics.median(ours.seconds) / statistics.median(bare.seconds), 2),
        "rate_ratio": round(statistics.median(a / b for a, b in zip(ours.rates, bare.rates, strict=True)), 3),
        "per_second": round(statistics.median(ours.rates), 1),
        "bare_per_second": round(statistics.median(bare.rates), 1),
        "median_ms": round(statistics.median(ours.seconds) * 1000, 2),
        "p95_ms": round(percentile(ours.seconds, 95) * 1000, 2),
        "bare_median_ms": round(statistics.median(bare.seconds) * 1000, 2),
        "bare_p95_ms": round(percentile(bare.seconds, 95) * 1000, 2),
    }


def tell(facts: dict[str, Any], asked: Namespace) -> None:
    if asked.json:
        sys.stdout.write(json.dumps(facts) + "\n")
        return
    text = _document(facts, asked)
    RESULTS.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def _document(facts: dict[str, Any], asked: Namespace) -> str:
    rows = [
        f"| {name} | {view['rate_ratio']} | {view['time_ratio']} | {view['per_second']} | {view['bare_per_second']} | "
        f"{view['median_ms']}, {view['p95_ms']} | {view['bare_median_ms']}, {view['bare_p95_ms']} |"
        for name, view in facts["views"].items()
    ]
    return _TEXT.format(
        options=f"--turns {asked.turns} --requests {asked.requests} --buyers {asked.buyers} --seconds {asked.seconds}",
        day=f"{clock.system_now():%Y-%m-%d}",
        version=VERSION,
        rows="\n".join(rows),
        answers=", ".join(
            f"{count} times {status}" for status, count in facts["polling"]["statuses"].items()
        ),
        machine=f"{os.cpu_count()} cores and {_memory_gb()} GB",
        software=f"{platform.system()}, Python {platform.python_version()}, Django {django.__version__}",
        **facts["polling"],
        **facts["orders"],
    )


_TEXT = """\
# Load

Written by `python -m bench.load {options}` on {day}, version {version}.

| | rate against the bare view | time against it | a second | bare | ms, median and p95 | bare |
|---|---|---|---|---|---|---|
{rows}

**{buyers} buyers with an open order page**, each looking for news every {every_seconds:g} s: the 95th percentile is \
{ratio} times the median of one buyer alone (limit {limit:g}).

| | one alone, median | all, median | all, p95 | all, p99 | a bare look, median |
|---|---|---|---|---|---|
| ms | {one_median_ms} | {many_median_ms} | {many_p95_ms} | {many_p99_ms} | {bare_median_ms} |

{looks} looks, answered {answers}; the client itself used {client_cpu} of a core. A look is counted from the moment \
that it was due. Orders placed: {placed} of {expected}.

What runs: the web server with its two processes of eight threads, worker, beat and gateway as `bin/serve` starts \
them, PostgreSQL that flushes every commit, Valkey, and a chain with a block every two seconds. Clients and servers \
share one machine with {machine} ({software}). The bare views run on the same server under the same middleware, in \
turns with ours: a page of the same bytes with two queries; one validated, inserted and signed row; one row locked \
with SKIP LOCKED and updated; one row read and compared with a tag.
"""


def _memory_gb() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9)
