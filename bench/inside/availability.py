"""Time the calendar of free lots, first without a past, then with one (bench.availability)."""

import argparse
import json
import sys
import time
from datetime import timedelta
from statistics import median

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from bench.inside.shop import CARDS_PER_NODE, add_history, analyze, open_shop
from catalog.models import Lot
from core import clock
from fleet.availability import HORIZON_DAYS, availability
from fleet.limits import HoldLimits
from fleet.services.hold import HoldRequest, hold

LEASES = 300
LIMIT = 1.3
MAX_QUERIES = 3
TERM_DAYS = 7


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cards", type=int, default=2000)
    parser.add_argument("--past", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    open_shop(nodes=options.cards // CARDS_PER_NODE, addresses=1)
    lot = Lot.objects.select_related("accelerator").filter(accelerator__slug="b200-180").order_by("cards")[0]
    _sell(lot)
    analyze()
    with CaptureQueriesContext(connection) as queries:
        _look(lot)
    before = _median(lot, options.runs)
    add_history(options.past)
    after = _median(lot, options.runs)
    ratio = after / before
    found = {
        "cards": options.cards,
        "past_reservations": options.past,
        "milliseconds_without": round(before * 1000, 1),
        "milliseconds_with": round(after * 1000, 1),
        "ratio": round(ratio, 3),
        "queries": len(queries),
    }
    holds = ratio <= LIMIT and len(queries) <= MAX_QUERIES
    if options.json:
        sys.stdout.write(json.dumps(found | {"ok": holds}) + "\n")
    else:
        sys.stdout.write(
            f"{'ok' if holds else 'BREACH'}: {found['milliseconds_without']} ms without a past, "
            f"{found['milliseconds_with']} ms with {options.past} past reservations, ratio {found['ratio']} "
            f"(at most {LIMIT}), {len(queries)} queries (at most {MAX_QUERIES}), {options.cards} cards\n"
        )
    return 0 if holds else 1


def _sell(lot: Lot) -> None:
    """Leases ahead at different starts, so that the calendar has something to say."""
    moment = clock.now().replace(minute=0, second=0, microsecond=0)
    limits = HoldLimits(orders_per_owner=LEASES, cards_per_owner=LEASES * 8, orders_per_prefix=None)
    for number in range(LEASES):
        with transaction.atomic():
            hold(
                HoldRequest(
                    ref=f"bench-{number}",
                    owner=f"bench-{number}",
                    prefix="",
                    lot=lot,
                    lots=1,
                    term_seconds=TERM_DAYS * 86400,
                    starts_at=moment + timedelta(hours=6 + number % 900),
                    expires_at=moment + timedelta(hours=2),
                    driver_minimum="",
                    limits=limits,
                )
            )


def _look(lot: Lot) -> float:
    today = clock.now().date()
    begun = time.perf_counter()
    availability(
        lot=lot, lots=1, term_days=TERM_DAYS, from_day=today, to_day=today + timedelta(days=HORIZON_DAYS)
    )
    return time.perf_counter() - begun


def _median(lot: Lot, runs: int) -> float:
    _look(lot)
    return median(_look(lot) for _ in range(runs))


if __name__ == "__main__":
    sys.exit(main())
