"""The state of a payment from its facts: amounts, time, reorgs. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.compute import Facts, Money, compute

DUE = 25_500_000
T0 = datetime(2026, 12, 1, 12, tzinfo=UTC)
EXPIRY = T0 + timedelta(minutes=60)


def money(units: int, *, block: int = 10, at: datetime = T0 + timedelta(minutes=10)) -> Money:
    return Money(units=units, block_number=block, block_time=at)


def facts(
    *transfers: Money,
    settled_number: int | None = 100,
    settled_time: datetime | None = T0,
    **changes: object,
) -> Facts:
    head = sum(row.units for row in transfers)
    settled = sum(row.units for row in transfers if row.block_number <= (settled_number or 0))
    base = Facts(
        due_units=DUE,
        expires_at=EXPIRY,
        transfers=transfers,
        head_balance=head,
        settled_balance=settled,
        peak_balance=settled,
        settled_number=settled_number,
        settled_time=settled_time,
        native_units=0,
        dropped=False,
        was_settled=False,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("units", [1, 425_000, DUE - 1])
def test_c01_a_part_is_never_paid(units: int) -> None:
    result = compute(facts(money(units)))
    assert (result.status, result.flags, result.received_units) == ("awaiting", ("partial",), units)


def test_c01_the_exact_sum_is_paid() -> None:
    result = compute(facts(money(DUE)))
    assert (result.status, result.flags) == ("settled", ())


def test_c02_three_parts_complete_it() -> None:
    parts = [24_500_000, 900_000, 100_000]
    states = [compute(facts(*[money(p) for p in parts[:n]])).status for n in (1, 2, 3)]
    assert states == ["awaiting", "awaiting", "settled"]


def test_seen_is_not_settled() -> None:
    result = compute(facts(money(DUE, block=101)))
    assert result.status == "seen"
    assert result.settled_units == 0


def test_c04_facts_stay_apart() -> None:
    late = EXPIRY + timedelta(hours=2)
    result = compute(facts(money(10_000_000), money(20_000_000, at=late), settled_time=late))
    assert result.status == "expired"
    assert set(result.flags) == {"over", "late"}
    assert (result.received_units, result.on_time_units) == (30_000_000, 10_000_000)


def test_c10_block_time_decides_and_not_detection() -> None:
    in_time = money(DUE, at=EXPIRY - timedelta(minutes=1))
    found_later = facts(in_time, settled_time=EXPIRY + timedelta(minutes=50))
    assert compute(found_later).status == "settled"
    not_final = facts(in_time, settled_number=9, settled_time=EXPIRY - timedelta(minutes=5))
    assert compute(not_final).status == "seen"


def test_money_in_the_very_second_of_expiry_is_on_time_and_one_later_is_late() -> None:
    assert compute(facts(money(DUE, at=EXPIRY), settled_time=EXPIRY)).status == "settled"
    late = compute(facts(money(DUE, at=EXPIRY + timedelta(seconds=1)), settled_time=EXPIRY))
    assert (late.status, late.flags) == ("expired", ("late",))


def test_unpaid_is_confirmed_only_by_a_settled_block_past_the_expiry() -> None:
    before = compute(facts(settled_time=EXPIRY - timedelta(seconds=1)))
    assert (before.status, before.unpaid_confirmed) == ("awaiting", False)
    after = compute(facts(settled_time=EXPIRY))
    assert (after.status, after.unpaid_confirmed) == ("expired", True)


def test_no_reading_yet_says_nothing() -> None:
    result = compute(facts(head_balance=None, settled_balance=None, settled_number=None, settled_time=None))
    assert (result.status, result.flags, result.unpaid_confirmed) == ("awaiting", (), False)


def test_c24_an_event_without_balance_pays_nothing() -> None:
    result = compute(facts(money(10**12), head_balance=0, settled_balance=0, peak_balance=0))
    assert result.status == "awaiting"
    assert result.flags == ("disagree",)


def test_c25_the_smaller_of_balance_and_log_counts() -> None:
    result = compute(
        facts(money(DUE), head_balance=25_245_000, settled_balance=25_245_000, peak_balance=25_245_000)
    )
    assert result.status == "awaiting"
    assert set(result.flags) == {"partial", "disagree"}
    assert result.received_units == 25_245_000


def test_c06_another_asset_counts_nothing() -> None:
    result = compute(facts(native_units=25_500_000))
    assert (result.status, result.flags, result.received_units) == ("awaiting", ("wrong_asset",), 0)


def test_c26_settled_money_that_is_gone_is_reversed() -> None:
    result = compute(facts(dropped=True, was_settled=True))
    assert (result.status, result.flags) == ("reversed", ("dropped",))


def test_c26_the_same_money_later_settles_again_whatever_the_hour() -> None:
    again = money(DUE, at=EXPIRY + timedelta(hours=3))
    result = compute(facts(again, was_settled=True, dropped=True))
    assert (result.status, result.flags) == ("settled", ())


def test_emptied_by_the_operator_is_not_a_reversal() -> None:
    result = compute(facts(money(DUE), head_balance=0, settled_balance=0, was_settled=True))
    assert (result.status, result.flags) == ("settled", ("swept",))
    assert (result.received_units, result.on_time_units) == (DUE, DUE)


def test_a_part_that_was_sent_back_stays_received_and_is_no_disagreement() -> None:
    result = compute(facts(money(1_000_000), head_balance=0, settled_balance=0))
    assert (result.status, result.received_units) == ("awaiting", 1_000_000)
    assert set(result.flags) == {"partial", "swept"}


def test_excess_is_a_flag_beside_settled() -> None:
    result = compute(facts(money(30_000_000)))
    assert (result.status, result.flags) == ("settled", ("over",))


@given(
    st.lists(
        st.tuples(st.integers(1, 2 * DUE), st.integers(1, 200), st.integers(-60, 180)), min_size=0, max_size=6
    ),
    st.integers(0, 200),
    st.booleans(),
)
def test_order_of_arrival_is_irrelevant_and_nothing_is_counted_twice(
    rows: Sequence[tuple[int, int, int]], settled_number: int, was_settled: bool
) -> None:
    transfers = [
        money(units, block=block, at=T0 + timedelta(minutes=minute)) for units, block, minute in rows
    ]
    forward = compute(facts(*transfers, settled_number=settled_number, was_settled=was_settled))
    backward = compute(facts(*reversed(transfers), settled_number=settled_number, was_settled=was_settled))
    assert forward == backward
    assert forward.on_time_units <= forward.settled_units <= forward.received_units
    assert forward.received_units == sum(row.units for row in transfers)
    if forward.status == "settled":
        assert forward.on_time_units >= DUE
