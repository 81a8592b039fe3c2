"""docs/lifecycle.md says what the tables of the code say, and docs/locking.md names every lock."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from billing.lifecycle import PAYMENT, REFUND
from fleet.lifecycle import LEASE, RESERVATION_ALLOWED
from orders.lifecycle import ORDER, QUOTE

ROOT = Path(__file__).resolve().parents[2]
TABLES: dict[str, Mapping[str, frozenset[str]]] = {
    "Quote": QUOTE.allowed,
    "Order": ORDER.allowed,
    "Payment": PAYMENT.allowed,
    "Refund": REFUND.allowed,
    "Reservation": RESERVATION_ALLOWED,
    "Lease": LEASE.allowed,
}


@pytest.mark.parametrize("heading", TABLES)
def test_states_and_steps(heading: str) -> None:
    text = (ROOT / "docs" / "lifecycle.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section, flags=re.MULTILINE)
    documented = {origin: frozenset(re.findall(r"`(\w+)`", following)) for origin, following in rows}
    assert documented == {
        str(origin): frozenset(map(str, following)) for origin, following in TABLES[heading].items()
    }


@pytest.mark.parametrize("app", ["fleet", "orders", "billing"])
def test_every_lock_is_named(app: str) -> None:
    code = (ROOT / app / "locks.py").read_text(encoding="utf-8")
    document = (ROOT / "docs" / "locking.md").read_text(encoding="utf-8")
    functions = re.findall(r"^def ([a-z]\w*)\(", code, flags=re.MULTILINE)
    assert functions
    assert [name for name in functions if f"{name}`" not in document] == []
