"""A broken catalogue file is answered by place, value and reason, whatever is in it; a traceback never."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.import_file import MAX_BYTES, MAX_ERRORS, FileRefused
from catalog.import_plan import InUse
from catalog.services.import_catalog import preview_import
from catalog.services.seed import Seeded

pytestmark = pytest.mark.django_db


def nothing_in_use() -> InUse:
    return InUse({})


def errors(file: bytes) -> tuple[str, ...]:
    """What is told of a file; empty where it can be taken."""
    try:
        preview_import(content=file, in_use=nothing_in_use)
    except FileRefused as refused:
        return tuple(str(error) for error in refused.errors)
    return ()


# One table for one test: to seed the shop anew for each would take most of its time.
BROKEN: list[tuple[bytes, str]] = [
    (b"", "The file is empty."),
    (b" \n\t", "The file is empty."),
    (b"\xff\xfe{", "byte 0: The file is not UTF-8."),
    (b"\x00", "This text holds a character that cannot be stored."),
    (b"x" * (MAX_BYTES + 1), "The file is larger than 200 kB."),
    (b"{", "line 1, column 2"),
    (b'{"terms": [], "terms": []}', "stands twice"),
    (b'{"terms": [{"days": NaN}]}', "NaN is not a number"),
    (b'{"terms": [{"days": ' + b"9" * 5000 + b"}]}", "This is not valid JSON."),
    (b'{"a":' * 5000, "nested too deep"),
    (b"a = " + b"[" * 5000, "The file is nested too deep."),
    (b"a" + b".a" * 150 + b" = 1", "The file is nested too deep."),
    # Read as it stands, this would take a minute.
    (b"a" + b".a" * 60_000 + b" = 1", "The file is nested too deep."),
    (b'{"terms": ' + b"[" * 30 + b"]" * 30 + b"}", "The file is nested too deep."),
    (b"currency = 0x" + b"F" * 9000, "A number in this file cannot be read."),
    (b"[[accelerators]]\nslug = 'a'\ncards_per_lot = [0x" + b"F" * 9000 + b"]", "cannot be read"),
    (b"<catalogue/>", "neither valid JSON nor valid TOML"),
    (b"[1, 2]", "neither valid JSON nor valid TOML"),
    (b"{}", "The file names nothing of the catalogue."),
    (b'about = "nothing"', "The file names nothing of the catalogue."),
    (b"[[cards]]\nslug = 'x'", "cards: "),
    (b'{"terms": {}}', "terms: {}: This must be a list of rows."),
    (b'{"terms": [3]}', "terms[1]: 3: This must be a row with named values."),
    (b'{"terms": [{}]}', "terms[1].days: This value is missing: it names the row."),
    (b'{"terms": [{"days": "3"}]}', "terms[1].days: 3: This must be a whole number."),
    (b'{"terms": [{"days": true}]}', "This must be a whole number."),
    (b'{"terms": [{"days": 0}]}', "terms[1].days: 0: "),
    (b'{"terms": [{"days": 3}, {"days": 3}]}', "Two rows of this file have the same name."),
    (b'{"terms": [{"days": 3, "discount": "1"}]}', "A discount lies between 0 and 0.99."),
    (b'{"terms": [{"days": 3, "discount": null}]}', "terms[1] 3.discount: null: "),
    (b'{"terms": [{"days": 3, "discount": 1e999999999}]}', "discount"),
    (b'{"terms": [{"days": 3, "meant_for": "\\u0000"}]}', "cannot be stored"),
    (b'{"terms": [{"days": 3, "meant_for": "\\ud800"}]}', "cannot be stored"),
    (b'{"terms": [{"days": 3, "meant_for": ["x"]}]}', "This must be a text."),
    (b'{"terms": [{"days": 3, "colour": "red"}]}', "terms[1] 3.colour: red: There is no such value."),
    (b'{"currency": "EUR", "terms": []}', "currency: EUR: This shop sells in USD."),
    (b'{"accelerators": [{"slug": "B200"}]}', "Use lower-case letters, digits and single hyphens."),
    (
        b'{"accelerators": [{"slug": "new"}]}',
        "accelerators[1] new.name: This value is missing, and the row is new.",
    ),
    (b'{"accelerators": [{"slug": "b200-180", "stack": "CUBA"}]}', "b200-180.stack: CUBA: "),
    (
        b'{"accelerators": [{"slug": "b200-180", "memory_gb": 180.5}]}',
        "memory_gb: 180.5: This must be a whole number.",
    ),
    (b'{"accelerators": [{"slug": "b200-180", "memory_gb": -1}]}', "memory_gb: -1: "),
    (b'{"accelerators": [{"slug": "b200-180", "memory_gb": 99999999999}]}', "memory_gb"),
    (b'{"accelerators": [{"slug": "b200-180", "usable_gib": -0.5}]}', "This must not be below zero."),
    (b'{"accelerators": [{"slug": "b200-180", "usable_gib": "much"}]}', "This must be a number."),
    (b'{"accelerators": [{"slug": "b200-180", "cores": {"cuda": "x"}}]}', "table of whole numbers"),
    (b'{"accelerators": [{"slug": "b200-180", "sources": []}]}', "sources: []: "),
    (b'{"accelerators": [{"slug": "b200-180", "cards_per_lot": [0]}]}', "cards_per_lot: 0: "),
    (b'{"accelerators": [{"slug": "b200-180", "cards_per_lot": [2, 2]}]}', "stands here twice"),
    (b'{"accelerators": [{"slug": "b200-180", "cards_per_lot": 2}]}', "list of numbers of cards"),
    (b'{"accelerators": [{"slug": "b200-180", "card_hour_amount": -1}]}', "A price must be above zero."),
    (b'{"accelerators": [{"slug": "b200-180", "card_hour_amount": [1]}]}', "This must be a number."),
    (
        b'{"accelerators": [{"slug": "b200-180", "card_hour_amount": 1, "demo_price_card_hour": 2}]}',
        "twice",
    ),
    (b'{"options": [{"code": "nvme-extra", "on_sale": 1}]}', "on_sale: 1: This must be true or false."),
    (
        b'{"options": [{"code": "nvme-extra", "accelerators": ["no-card"]}]}',
        "no-card: There is no such accelerator",
    ),
    (b'{"options": [{"code": "nvme-extra", "accelerators": [1]}]}', "list of accelerators"),
    (b'{"images": [{"code": "pt-cu128", "targets": "sm_90"}]}', "This must be a list of texts."),
    (b'{"images": [{"code": "pt-cu128", "targets": ["sm 90"]}]}', 'targets: ["sm 90"]: '),
    (b"[hosts]\nno-card = {vcpu = 1}", "hosts.no-card: no-card: There is no such accelerator"),
    (
        b"[hosts]\nb200-180 = {vcpu = 2000000000}",
        "hosts.b200-180.vcpu: 2000000000: This number is too large.",
    ),
    (b"[hosts]\nb200-180 = 1", "This must be a row with named values."),
    (b"hosts = 1", "This must be a table of accelerators."),
    (b"[[terms]]\ndays = 3\nmeant_for = 1979-05-27", "This must be a text."),
]


def test_a_broken_file_is_answered_by_place_value_and_reason(seeded: Seeded) -> None:
    answers = [(file, told, errors(file)) for file, told in BROKEN]
    assert [case for case in answers if not any(case[1] in text for text in case[2])] == []


def test_every_error_of_a_file_is_told_up_to_a_bound(seeded: Seeded) -> None:
    rows: list[dict[str, object]] = [{"days": 3, f"name{number}": number} for number in range(1)]
    rows += [{"days": "x"} for _ in range(MAX_ERRORS + 10)]
    with pytest.raises(FileRefused) as refused:
        preview_import(content=json.dumps({"terms": rows}).encode(), in_use=nothing_in_use)
    assert (len(refused.value.errors), refused.value.count) == (MAX_ERRORS, MAX_ERRORS + 11)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
NAMES = [
    "slug",
    "code",
    "days",
    "name",
    "cards_per_lot",
    "cores",
    "sources",
    "unit_amount",
    "accelerators",
    "targets",
]
ROW = st.dictionaries(
    st.sampled_from(NAMES), st.sampled_from(["b200-180", "nvme-extra", 3]) | JSON, max_size=4
)
DOCUMENT = st.dictionaries(
    st.sampled_from(["terms", "accelerators", "options", "images", "hosts", "currency", "other"]),
    st.lists(ROW, max_size=2) | st.dictionaries(st.just("b200-180"), ROW | JSON, max_size=1) | JSON,
    max_size=3,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=DOCUMENT)
def test_no_document_breaks_it(seeded: Seeded, document: dict[str, Any]) -> None:
    told = errors(json.dumps(document).encode())
    assert all(told)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    file=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_no_bytes_break_it(seeded: Seeded, file: bytes) -> None:
    assert errors(file)
