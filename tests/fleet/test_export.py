"""The last safe start of an export: arithmetic, what is missing, bounds, and that it moves with the end."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from core import clock
from core.errors import Refusal
from fleet.export import Missing, RateSource, export_plan, export_time
from fleet.models import Lease
from fleet.selectors import export_plan_of, last_safe_export_at
from fleet.services.export import MAX_BYTES, MAX_RATE_BYTES_S, MIN_RATE_BYTES_S, declare
from orders.export_words import export_sentences
from tests.factories.fleet import make_lease, make_lot
from tests.fleet.rows import reload

END = datetime(2026, 12, 8, 14, 58, tzinfo=UTC)
GB, MB = 10**9, 10**6


def lease(size: int | None, rate: int | None, ends_at: datetime | None = END) -> Lease:
    return Lease(export_bytes=size, export_rate_bytes_s=rate, ends_at=ends_at)


@pytest.mark.parametrize(
    ("size", "rate", "takes"),
    [
        (1200 * GB, 250 * MB, timedelta(hours=1, minutes=20)),
        (1, 1000, timedelta(seconds=1)),
        (1000, 1000, timedelta(seconds=1)),
        (1001, 1000, timedelta(seconds=2)),
        (MAX_BYTES, MAX_RATE_BYTES_S, timedelta(seconds=20_000)),
        (MAX_BYTES, MIN_RATE_BYTES_S, timedelta(seconds=10**12)),
    ],
)
def test_time_is_whole_seconds_rounded_up(size: int, rate: int, takes: timedelta) -> None:
    assert export_time(size_bytes=size, rate_bytes_s=rate) == takes


def test_end_less_transfer_less_margin() -> None:
    plan = export_plan(lease(1200 * GB, 250 * MB), uplink_gbit_s=100)
    assert plan.last_safe_at == datetime(2026, 12, 8, 13, 8, tzinfo=UTC)
    assert plan.rate_source == RateSource.DECLARED
    assert not plan.is_past(datetime(2026, 12, 8, 13, 8, tzinfo=UTC))
    assert plan.is_past(datetime(2026, 12, 8, 13, 8, 1, tzinfo=UTC))


def test_without_a_rate_half_of_the_published_uplink_counts() -> None:
    plan = export_plan(lease(1250 * GB, None), uplink_gbit_s=10)
    # 10 Gbit/s are 1,250 MB/s; half of it carries 1,250 GB in 2,000 s.
    assert (plan.rate_bytes_s, plan.takes) == (625 * MB, timedelta(seconds=2000))
    assert plan.rate_source == RateSource.UPLINK
    assert any("half of the published uplink" in words for words in export_sentences(plan, END))


@pytest.mark.parametrize(
    ("row", "uplink", "missing", "words"),
    [
        (lease(None, 250 * MB), 100, Missing.SIZE, "is not known yet"),
        (lease(None, None), None, Missing.SIZE, "is not known yet"),
        (lease(GB, None), None, Missing.RATE, "no rate is known"),
        (lease(GB, None), 0, Missing.RATE, "no rate is known"),
        (lease(GB, 250 * MB, None), None, Missing.END, "take 4"),
    ],
)
def test_what_is_missing_is_said(row: Lease, uplink: int | None, missing: Missing, words: str) -> None:
    plan = export_plan(row, uplink_gbit_s=uplink)
    assert (plan.last_safe_at, plan.missing) == (None, missing)
    assert words in export_sentences(plan, END)[0]


def test_a_moment_in_the_past_is_said_plainly() -> None:
    plan = export_plan(lease(1200 * GB, 250 * MB), uplink_gbit_s=None)
    before, after = (export_sentences(plan, END - timedelta(hours=left)) for left in (3, 1))
    assert before[0] == "Start your export by 8 Dec 2026 at 13:08 UTC at the latest."
    assert after[0].startswith(
        "The last safe start of your export was 8 Dec 2026 at 13:08 UTC: 1,200 GB may no longer get out in time."
    )
    assert before[1:] == after[1:]
    assert "1,200 GB at 250 MB/s take 1\u00a0h 20\u00a0min; 30\u00a0min more are kept" in before[1]


@pytest.mark.django_db
def test_the_margin_is_a_policy_number(settings: Settings) -> None:
    settings.EXPORT_VERIFY_MARGIN_SECONDS = 3600
    plan = export_plan(lease(900 * GB, 250 * MB), uplink_gbit_s=None)
    assert plan.last_safe_at == END - timedelta(hours=2)


@pytest.mark.django_db
def test_declared_it_moves_with_the_end_and_may_be_forgotten() -> None:
    row = make_lease(make_lot())
    assert last_safe_export_at(row) is None
    declare(order_ref=row.order_ref, size_bytes=900 * GB, rate_bytes_s=250 * MB)
    moment = clock.now()
    for days in (3, 10):
        ends_at = moment + timedelta(days=days)
        Lease.objects.filter(pk=row.pk).update(status="ready", ready_at=moment, ends_at=ends_at)
        assert last_safe_export_at(reload(row)) == ends_at - timedelta(minutes=90)
    declare(order_ref=row.order_ref, size_bytes=None, rate_bytes_s=None)
    assert export_plan_of(reload(row)).missing == Missing.SIZE


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("size", "rate", "field"),
    [
        (0, MB, "size"),
        (-1, MB, "size"),
        (MAX_BYTES + 1, MB, "size"),
        (GB, 0, "rate"),
        (GB, MIN_RATE_BYTES_S - 1, "rate"),
        (GB, MAX_RATE_BYTES_S + 1, "rate"),
        (10**40, MB, "size"),
        # Each alone is possible, together they take longer than a calendar holds.
        (MAX_BYTES, MIN_RATE_BYTES_S, "rate"),
    ],
)
def test_bounds(size: int, rate: int, field: str) -> None:
    row = make_lease(make_lot())
    refusal = refused(lambda: declare(order_ref=row.order_ref, size_bytes=size, rate_bytes_s=rate))
    assert (refusal.code, refusal.field) == ("out_of_range", field)
    assert reload(row).export_bytes is None


@pytest.mark.django_db
def test_not_before_the_lease_and_not_after_its_end() -> None:
    row = make_lease(make_lot())

    def act(ref: str = row.order_ref) -> None:
        declare(order_ref=ref, size_bytes=GB, rate_bytes_s=None)

    assert refused(lambda: act("ord_none")).code == "not_ready"
    moment = clock.now()
    Lease.objects.filter(pk=row.pk).update(
        status="ready", ready_at=moment, ends_at=moment + timedelta(hours=1)
    )
    clock.skip(timedelta(hours=1))
    assert refused(act).code == "lease_over"


def refused(act: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act()
    return caught.value
