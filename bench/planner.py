"""CPU time of one plan, and how the fitted constants carry over to a model that was left out of the fit.

    python -m bench.planner [--leave-one-out]

The second re-fits the three constants that were taken from split calib on five of its six models, by a grid, and
scores the sixth. It reads tests/planner/data and nothing of the other splits.
"""

import argparse
import csv
import itertools
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner import activations, plan, request_from_mapping
from planner.measurements import Row
from planner.scoring import quantile, score_measurements
from tests.planner.lots import catalogue_lots

ROWS = Path(__file__).resolve().parent.parent / "tests/planner/data/memory-measurements.csv"

# bytes per logit of the framework's loss and of the fused kernel, bytes per hidden value of two eager norms
GRID = tuple(
    itertools.product((11.0, 11.5, 12.0, 12.5, 13.0, 14.0), (7.0, 7.5, 8.0, 8.5, 9.0), (0, 4, 8, 12, 16))
)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--leave-one-out", action="store_true")
    if parser.parse_args().leave_one_out:
        _leave_one_out()
    else:
        _timing()
    return 0


def _timing() -> None:
    lots = catalogue_lots()
    request = request_from_mapping({"model": {"preset": "llama-3-8b"}, "tokens": "0.5B"})
    seconds = []
    for _ in range(200):
        before = time.process_time()
        plan(request, lots)
        seconds.append(time.process_time() - before)
    median, worst = (1000 * quantile(seconds, share) for share in (0.5, 0.99))
    sys.stdout.write(f"{len(lots)} lots: median {median:.2f} ms, 99th percentile {worst:.2f} ms of CPU\n")


def _leave_one_out() -> None:
    with ROWS.open(encoding="utf-8", newline="") as file:
        rows: list[Row] = [row for row in csv.DictReader(file) if row["split"] == "calib"]
    for model in sorted({row["model"] or "" for row in rows}):
        kept = [row for row in rows if row["model"] != model]
        left = [row for row in rows if row["model"] == model]
        best = min(GRID, key=lambda point: _error(kept, point))
        with _constants(best):
            errors = [abs(item.error) for item in score_measurements(left)[0]]
        sys.stdout.write(
            f"{model:<18}{len(left):>4} rows  fitted {best}  median {quantile(errors, 0.5):.2%}"
            f"  p90 {quantile(errors, 0.9):.2%}\n"
        )


def _error(rows: list[Row], point: tuple[float, float, int]) -> float:
    """Mean, not median: a constant that only a few rows feel must still be fitted by them."""
    with _constants(point):
        scored, _ = score_measurements(rows)
    return sum(abs(item.error) for item in scored) / len(scored)


@contextmanager
def _constants(point: tuple[float, float, int]) -> Iterator[None]:
    before = dict(activations.LOSS_COPIES), activations.EAGER_NORM_BYTES
    loss, fused, norms = point
    activations.LOSS_COPIES.update(hf=loss, fast_ce=fused)
    activations.EAGER_NORM_BYTES = norms  # type: ignore[misc]  # the point of this script
    try:
        yield
    finally:
        activations.LOSS_COPIES.update(before[0])
        activations.EAGER_NORM_BYTES = before[1]  # type: ignore[misc]


if __name__ == "__main__":
    sys.exit(main())
