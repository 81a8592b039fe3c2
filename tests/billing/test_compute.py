"""The state of a payment from its facts: amounts, time, reorgs. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
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
        head_number=200,
        settled_balance=settled,
        peak_balance=settled,
        settled_number=settled_number,
        settled_time=settled_time,
        wrong_asset=False,
        wrong_network=False,
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
    result = compute(facts(wrong_asset=True))
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


def test_what_is_being_collected_stays_received_and_is_no_disagreement() -> None:
    """The head no longer shows it, the settled block still does."""
    result = compute(facts(money(DUE), head_balance=0, was_settled=True))
    assert (result.status, result.flags, result.received_units) == ("settled", (), DUE)


def test_a_part_that_was_sent_back_stays_received_and_is_no_disagreement() -> None:
    result = compute(facts(money(1_000_000), head_balance=0, settled_balance=0))
    assert (result.status, result.received_units) == ("awaiting", 1_000_000)
    assert set(result.flags) == {"partial", "swept"}


@pytest.mark.parametrize("more", [5, DUE - 1])
def test_money_after_the_address_was_emptied_reverses_nothing(more: int) -> None:
    """Collected, then the buyer sends again: the lease must not stop for it, and all that came is received."""
    rows = (money(DUE), money(more, block=50))
    result = compute(
        facts(
            *rows, head_balance=more, settled_balance=more, peak_balance=DUE, peak_number=20, was_settled=True
        )
    )
    assert (result.status, result.settled_units, result.flags) == ("settled", DUE + more, ("over", "swept"))


def test_a_part_that_was_collected_counts_beside_the_rest() -> None:
    rows = (money(10_000_000), money(5, block=50))
    result = compute(facts(*rows, head_balance=5, settled_balance=5, peak_balance=10_000_000, peak_number=20))
    assert (result.status, result.settled_units) == ("awaiting", 10_000_005)
    assert set(result.flags) == {"partial", "swept"}


def test_c26_a_reorg_below_the_fullest_balance_is_no_collection() -> None:
    """Part of it is gone, and other money came: what is left counts, and nothing twice."""
    left = (money(10_000_000), money(4_000_000, block=50))
    result = compute(facts(*left, peak_balance=DUE, peak_number=20, was_settled=True, dropped=True))
    assert (result.status, result.settled_units) == ("reversed", 14_000_000)
    assert "swept" not in result.flags


def test_excess_is_a_flag_beside_settled() -> None:
    result = compute(facts(money(30_000_000)))
    assert (result.status, result.flags) == ("settled", ("over",))


CARD = replace(facts(), due_units=None, head_balance=None, settled_balance=None, amount_minor=2550)


def card(**changes: object) -> Facts:
    """A payment by bank card alone: no address was issued."""
    return replace(
        CARD,
        settled_number=None,
        settled_time=None,
        head_number=None,
        **changes,  # type: ignore[arg-type]
    )


def test_a_bank_card_pays_by_the_processors_word() -> None:
    assert compute(card()).status == "awaiting"
    assert compute(card(card_paid_minor=2549)).status == "awaiting"
    paid = compute(card(card_paid_minor=2550, time_is_up=True))
    assert (paid.status, paid.flags, paid.unpaid_confirmed) == ("settled", (), False)
    assert compute(card(card_paid_minor=2600)).flags == ("over",)


def test_a_bank_card_order_is_unpaid_only_when_no_session_can_pay_it() -> None:
    assert not compute(card(time_is_up=True, card_open=True)).unpaid_confirmed
    assert compute(card(time_is_up=True, card_pending=True)).status == "seen"
    ended = compute(card(time_is_up=True))
    assert (ended.status, ended.unpaid_confirmed) == ("expired", True)
    assert not compute(card()).unpaid_confirmed
    late = facts(settled_time=EXPIRY, amount_minor=2550, card_open=True)
    assert not compute(late).unpaid_confirmed


def test_an_amount_of_zero_is_never_covered_by_a_card() -> None:
    assert compute(replace(card(), amount_minor=0)).status == "awaiting"


def test_money_on_both_ways_is_too_much() -> None:
    both = compute(facts(money(DUE), amount_minor=2550, card_paid_minor=2550))
    assert (both.status, both.flags) == ("settled", ("over",))
    part_beside_card = compute(facts(money(1), amount_minor=2550, card_paid_minor=2550))
    assert (part_beside_card.status, part_beside_card.flags) == ("settled", ("over",))
    card_in_part = compute(facts(money(DUE), amount_minor=2550, card_paid_minor=1))
    assert (card_in_part.status, card_in_part.flags) == ("settled", ("over",))
    two_parts = compute(facts(money(1), amount_minor=2550, card_paid_minor=1))
    assert (two_parts.status, two_parts.flags) == ("awaiting", ("partial",))


def test_a_person_may_take_a_part_for_the_whole() -> None:
    late = EXPIRY + timedelta(hours=2)
    result = compute(
        facts(money(DUE - 1, at=late), settled_time=late, accepted_by_hand=True, was_settled=True)
    )
    assert result.status == "settled"
    assert set(result.flags) == {"partial", "late", "by_hand"}
    assert (result.on_time_units, result.unpaid_confirmed) == (0, True)


def test_a_hit_of_the_screening_holds_full_money_and_does_not_expire_it() -> None:
    held = compute(facts(money(DUE), settled_time=EXPIRY, screening_hold=True))
    assert (held.status, held.flags, held.unpaid_confirmed) == ("seen", ("screening",), False)
    before = compute(facts(money(DUE), screening_hold=True, was_settled=True))
    assert (before.status, before.flags) == ("settled", ())


def test_several_flags_stand_at_once() -> None:
    result = compute(facts(money(DUE + 1), wrong_asset=True, wrong_network=True))
    assert set(result.flags) == {"over", "wrong_asset", "wrong_network"}


def test_a_transfer_newer_than_the_balance_is_no_disagreement() -> None:
    result = compute(
        facts(money(DUE, block=201), head_balance=0, head_number=200, settled_balance=0, settled_number=150)
    )
    assert (result.status, result.flags, result.received_units) == ("awaiting", (), 0)


def test_c28_a_balance_without_its_transfers_is_not_called_unpaid() -> None:
    covered = facts(head_balance=DUE, settled_balance=DUE, peak_balance=DUE, settled_time=EXPIRY)
    assert (compute(covered).status, compute(covered).flags) == ("awaiting", ("disagree",))
    short = replace(covered, head_balance=DUE - 1, settled_balance=DUE - 1)
    assert compute(short).status == "expired"


# A busy machine draws slowly; that is no fault of the rule.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
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
    assert forward.on_time_units == min(
        forward.settled_units,
        sum(
            row.units for row in transfers if row.block_number <= settled_number and row.block_time <= EXPIRY
        ),
    )
    if forward.status == "settled":
        assert forward.settled_units >= DUE
