"""S40: no cell of an export runs in a spreadsheet, whatever people typed, and every text comes back."""

import csv
import io
import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.csv_safe import BOM, SEPARATORS, Column, cell, lines, plain_text, safe_text

# What spreadsheets take for a formula, written apart from the code under test.
LIVE = "=+-@＝＋－＠−﹢﹣﹦﹫"
BREAKS = "\t\r\n"
PASSED_OVER = BREAKS + ' "\u00a0\u200b\ufeff\x0b\x0c\u2028'
SIGNS = LIVE + PASSED_OVER + "',;|a"
TYPED = st.text(max_size=30) | st.text(alphabet=SIGNS, max_size=12)
PHONE = "+49 30 1234567"


def is_live(text: str) -> bool:
    """A reader passes over blanks, quotation marks and what is invisible."""
    return text.startswith(tuple(BREAKS)) or text.lstrip(PASSED_OVER).startswith(tuple(LIVE))


def table(*texts: str, separator: str = ",") -> str:
    columns = [Column[list[str]](f"c{n}", lambda row, n=n: row[n]) for n in range(len(texts))]  # type: ignore[misc]
    return "".join(lines(columns, [list(texts)], separator=separator))


@given(TYPED)
@example("=1+1")
@example(" =1+1")
@example("'=1+1")
@example("''")
@example("'\t=")
@example("a;=1+1")
@example('a";\t"=1+1')
def test_a_text_comes_back(text: str) -> None:
    assert plain_text(safe_text(text)) == text


@given(TYPED)
def test_no_text_is_live_under_any_separator(text: str) -> None:
    """A reader that was told another separator cuts the text in other places."""
    safe = safe_text(text)
    assert not is_live(safe)
    for part in re.split(r"[,;\t\r\n\"]", safe):
        assert not is_live(part.lstrip(' "\u00a0\u200b\ufeff\x0b\u2028'))


@given(st.lists(TYPED, min_size=1, max_size=4), st.sampled_from(sorted(SEPARATORS.values())))
def test_a_program_reads_the_same_columns(texts: list[str], separator: str) -> None:
    storable = [text.replace("\x00", "").encode("utf-8", "replace").decode() for text in texts]
    raw = table(*storable, separator=separator).encode()
    assert raw.startswith(BOM.encode())
    head, row = csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), delimiter=separator)
    assert head == [f"c{n}" for n in range(len(storable))]
    assert not any(is_live(found) for found in row)
    assert [plain_text(found) for found in row] == storable


def test_ordinary_texts_stay_as_they_are() -> None:
    for text in (
        "Ada Lovelace",
        "Мария Кюри",
        "Jürgen Groß; Söhne",
        'the "best"',
        "a\nb",
        "ord_1",
        "3,5 - 4",
    ):
        assert safe_text(text) == text
    assert safe_text(PHONE) == f"'{PHONE}"


def test_lines_end_as_the_rule_says_and_quotes_are_doubled() -> None:
    assert table("a", 'say "x"', "b,c") == f'{BOM}c0,c1,c2\r\na,"say ""x""","b,c"\r\n'


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, ""),
        (True, "true"),
        (0, "0"),
        (-5, "-5"),
        (10**30, "1" + "0" * 30),
        (Decimal("1368.00"), "1368.00"),
        (Decimal("1E+3"), "1000"),
        (datetime(2026, 12, 1, 12, 0, tzinfo=timezone(timedelta(hours=1))), "2026-12-01T11:00:00Z"),
        (datetime(2026, 12, 1, tzinfo=UTC), "2026-12-01T00:00:00Z"),
        (date(2026, 12, 1), "2026-12-01"),
    ],
)
def test_values_have_one_form_in_every_language(value: object, written: str) -> None:
    assert cell(value) == written  # type: ignore[arg-type]
