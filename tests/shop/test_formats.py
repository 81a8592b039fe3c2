"""Figures, instants and durations in four languages, by the glossary's table."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from django.template import Context, Template
from django.utils import translation

from catalog.wording import quantity_text
from core import formats, units

MOMENT = datetime(2026, 12, 8, 14, 58, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "−1,234,567.50"),
        ("de", "−1.234.567,50"),
        ("fr", "−1\u202f234\u202f567,50"),
        ("ru", "−1\xa0234\xa0567,50"),
    ],
)
def test_amounts(language: str, text: str) -> None:
    with translation.override(language):
        assert formats.amount_text(Decimal("-1234567.5")) == text


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        ("0", 2, "0.00"),
        ("999.995", 2, "1,000.00"),
        ("2052", None, "2,052"),
        ("75.8", None, "75.8"),
        ("0.000001", 6, "0.000001"),
        ("1E+3", None, "1,000"),
        ("123456789012345678901234.56", 2, "123,456,789,012,345,678,901,234.56"),
    ],
)
def test_places_and_grouping(value: str, places: int | None, text: str) -> None:
    assert formats.amount_text(Decimal(value), places=places) == text


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru"])
def test_what_is_copied_is_the_same_in_every_language(language: str) -> None:
    with translation.override(language):
        shown = Template("{% load site %}{{ a|plain }}|{{ b|plain:6 }}").render(
            Context({"a": Decimal(2052), "b": Decimal("1234.5")})
        )
    assert shown == "2052.00|1234.500000"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "8 Dec 2026, 14:58 UTC"),
        ("de", "8. Dez. 2026, 14:58 UTC"),
        ("fr", "8 déc. 2026, 14:58 UTC"),
        ("ru", "8 декабря 2026, 14:58 UTC"),
    ],
)
def test_instants(language: str, text: str) -> None:
    with translation.override(language):
        assert formats.instant_text(MOMENT) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "8 Dec 2026 at 14:58 UTC"),
        ("de", "8. Dez. 2026 um 14:58 UTC"),
        ("fr", "8 déc. 2026 à 14:58 UTC"),
        ("ru", "8 декабря 2026 в 14:58 UTC"),
    ],
)
def test_an_instant_in_a_sentence(language: str, text: str) -> None:
    with translation.override(language):
        assert formats.instant_text(MOMENT, style="sentence") == text


@pytest.mark.parametrize(
    ("language", "text"), [("en", "7%"), ("de", "7\xa0%"), ("fr", "7\u202f%"), ("ru", "7\xa0%")]
)
def test_per_cent(language: str, text: str) -> None:
    with translation.override(language):
        assert formats.percent_text(Decimal("0.07")) == text
        assert formats.percent_text(Decimal("0.125")) == text.replace(
            "7", "12.5" if language == "en" else "12,5"
        )


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "3\xa0d 5\xa0h 46\xa0min"),
        ("de", "3\xa0Tage 5\xa0h 46\xa0min"),
        ("fr", "3\xa0j 5\xa0h 46\xa0min"),
        ("ru", "3\xa0д 5\xa0ч 46\xa0мин"),
    ],
)
def test_time_left(language: str, text: str) -> None:
    with translation.override(language):
        assert formats.duration_text(3 * 86_400 + 5 * 3_600 + 46 * 60) == text
        assert formats.countdown_text(2_933) == "48:53"


@pytest.mark.parametrize(
    ("language", "number"), [("en", "2,250"), ("de", "2.250"), ("fr", "2\u202f250"), ("ru", "2\xa0250")]
)
def test_a_figure_that_no_filter_wrote_groups_alike(language: str, number: str) -> None:
    """By Django's own machinery, as in forms and the admin."""
    with translation.override(language):
        assert Template("{{ n }}").render(Context({"n": 2250})) == number


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("seconds", "8 Dec 2026, 14:58:07 UTC"),
        ("log", "8 Dec, 14:58 UTC"),
        ("clock", "14:58:07 UTC"),
        ("day", "8 Dec 2026 UTC"),
    ],
)
def test_styles_of_an_instant(monkeypatch: pytest.MonkeyPatch, style: str, text: str) -> None:
    monkeypatch.setattr("core.clock.now", lambda: MOMENT + timedelta(hours=9))
    assert formats.instant_text(MOMENT, style=style) == text


@pytest.mark.parametrize(
    ("now", "clock"),
    [
        (MOMENT.replace(hour=0, minute=0), "14:58:07 UTC"),
        (MOMENT.replace(hour=23, minute=59), "14:58:07 UTC"),
        (MOMENT + timedelta(hours=10), "8 Dec, 14:58:07 UTC"),
        (MOMENT - timedelta(hours=15), "8 Dec, 14:58:07 UTC"),
        (MOMENT + timedelta(days=365), "8 Dec 2026, 14:58:07 UTC"),
    ],
)
def test_a_time_of_another_day_carries_its_date(
    monkeypatch: pytest.MonkeyPatch, now: datetime, clock: str
) -> None:
    monkeypatch.setattr("core.clock.now", lambda: now)
    assert formats.instant_text(MOMENT, style="clock") == clock
    # A moment given in another zone is compared by its day in UTC.
    there = MOMENT.astimezone(timezone(timedelta(hours=14)))
    assert formats.instant_text(there, style="clock") == clock


def test_an_instant_is_shown_in_utc_with_its_machine_form() -> None:
    there = MOMENT.astimezone(timezone(timedelta(hours=9)))
    html = Template("{% load site %}{{ at|instant }}").render(Context({"at": there}))
    assert html == '<time datetime="2026-12-08T14:58:07Z">8 Dec 2026, 14:58 UTC</time>'


def test_a_time_without_zone_never_reaches_a_page() -> None:
    with pytest.raises(ValueError, match="zone"):
        formats.instant_text(MOMENT.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3 * 86_400 + 5 * 3_600 + 46 * 60 + 59, "3\xa0d 5\xa0h 46\xa0min"),
        (7 * 86_400, "7\xa0d"),
        (3_660, "1\xa0h 1\xa0min"),
        (59, "59\xa0s"),
        (0, "0\xa0s"),
        (-5, "0\xa0s"),
    ],
)
def test_durations(seconds: int, text: str) -> None:
    assert formats.duration_text(seconds) == text
    assert formats.duration_text(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(2_933, "48:53"), (3_723, "1:02:03"), (5, "00:05"), (-1, "00:00")]
)
def test_countdown(seconds: int, text: str) -> None:
    assert formats.countdown_text(seconds) == text


def test_an_address_is_cut_without_loss() -> None:
    address = "0x91f77CF69ECC5a59F80e08CD4394295d7212BA84"
    parts = formats.address_chunks(address)
    assert parts[0] == "0x91f7"
    assert parts[-1] == "BA84"
    assert "".join(parts) == address


@pytest.mark.parametrize(
    ("count", "unit", "text"),
    [
        (1, "folder", "1\u00a0folder"),
        (2, "folder", "2\u00a0folders"),
        (1200, "TB", "1,200\u00a0TB"),
        (2, "licence", "2\u00a0licence"),
    ],
)
def test_a_quantity_of_an_option_has_its_plural(count: int, unit: str, text: str) -> None:
    assert quantity_text(count, unit) == text


@pytest.mark.parametrize("language", ["en", "de", "fr", "ru"])
def test_the_first_day_of_a_month_fits_the_cell_of_a_calendar(language: str) -> None:
    """A seventh of a phone's width; “30 сентября” lay over the next day."""
    with translation.override(language):
        assert max(len(units.day_short(date(2026, month, 28))) for month in range(1, 13)) <= 9
