"""The long runs of the production shape (`bin/test --full`), and that their figures can be read."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.inside.load_report import percentile
from bench.inside.soak import Traffic, report

ROOT = Path(__file__).resolve().parents[2]


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=1800)


@pytest.mark.full
def test_fifteen_minutes_of_traffic_leave_no_process_larger() -> None:
    done = run("bench.soak", "--minutes", "15")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.full
def test_a_thousand_open_pages_wait_little_longer_than_one() -> None:
    done = run("bench.load", "--json")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("end", "code"), [(104.0, 0), (106.0, 1)], ids=["within", "above"])
def test_a_process_that_grows_is_seen(end: float, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    samples = {"web": [(300.0, 100.0), (870.0, end)], "worker 7": [(10.0, 50.0)]}
    assert report(samples, Traffic(port=0), 15, leases_open=0, as_json=False) == 1
    assert report(samples, Traffic(port=0), 15, leases_open=3, as_json=False) == code
    said = capsys.readouterr().out
    assert f"ratio {end / 100}" in said
    assert "worker 7" not in said


def test_the_percentile_is_that_of_the_figures() -> None:
    assert percentile(list(range(1, 201)), 95) == pytest.approx(191, abs=1)
