"""Text from people: what is kept, what is flattened, what is refused and under which code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from core.text import check_storable, clean_block, clean_line, flatten, is_storable


@pytest.mark.parametrize("value", ["a\x00b", "\ud800", "a\udfffb"])
def test_what_cannot_be_stored_is_refused_and_names_its_field(value: str) -> None:
    assert not is_storable(value)
    for clean in (clean_line, clean_block):
        with pytest.raises(Invalid) as caught:
            clean(value, field="contact.name", max_length=10)
        assert (caught.value.code, caught.value.field) == ("invalid_text", "contact.name")
    with pytest.raises(Invalid):
        check_storable(value, field="x")


@pytest.mark.parametrize("value", ["a\x07b", "a\x1bb", "a\x7fb", "a\x9bb"])
def test_control_characters_are_refused(value: str) -> None:
    with pytest.raises(Invalid, match="invalid_text"):
        clean_block(value, field="x", max_length=10)


@pytest.mark.parametrize("value", ["a b", " a  b ", "a\tb", "a\r\nb", "a\u2028b", "a\u00a0b"])
def test_a_line_has_single_blanks_only(value: str) -> None:
    assert clean_line(value, field="x", max_length=10) == "a b"


def test_a_block_keeps_its_lines() -> None:
    assert clean_block(" a\r\nb\rc\td \n", field="x", max_length=20) == "a\nb\nc\td"


def test_marks_that_nobody_sees_are_taken_out() -> None:
    assert clean_line("ad\u202emin\u200b", field="x", max_length=10) == "admin"


def test_letters_are_composed() -> None:
    assert clean_line("e\u0301", field="x", max_length=10) == "é"


def test_length_counts_characters_after_cleaning() -> None:
    assert clean_line("  " + "é" * 10 + "  ", field="x", max_length=10) == "é" * 10
    with pytest.raises(Invalid) as caught:
        clean_line("x" * 11, field="x", max_length=10)
    assert caught.value.code == "too_long"
    assert "10" in caught.value.text


@pytest.mark.parametrize("value", ["", "   ", "\n", "\u200b"])
def test_nothing_is_not_enough_where_something_is_required(value: str) -> None:
    assert clean_line(value, field="x", max_length=10) == ""
    with pytest.raises(Invalid, match="required"):
        clean_line(value, field="x", max_length=10, required=True)


@given(st.text(max_size=200))
def test_no_line_end_survives_in_a_header(value: str) -> None:
    assert len(flatten(value).splitlines()) <= 1


@given(st.text(max_size=200))
def test_a_cleaned_line_is_one_line_that_cleaning_leaves_alone(value: str) -> None:
    try:
        line = clean_line(value, field="x", max_length=500)
    except Invalid:
        return
    assert len(line.splitlines()) <= 1
    assert clean_line(line, field="x", max_length=500) == line
