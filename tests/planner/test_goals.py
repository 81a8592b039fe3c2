"""The figures to reach, on the published rows; docs/planner.md shows the same tables."""

import csv
from collections.abc import Iterable
from pathlib import Path

import pytest

from planner.measurements import Row, case_from_row
from planner.scoring import by_split, score_measurements, score_verdicts

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[Row]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("split", "count", "goal"),
    [("calib", 120, 0.02), ("test", 81, 0.055), ("infer", 11, 0.05), ("device", 120, 0.09)],
)
def test_median_error(split: str, count: int, goal: float) -> None:
    scored, _ = score_measurements(rows("memory-measurements.csv"))
    score = by_split(scored)[split]
    assert score.rows == count
    assert score.median <= goal


def test_verdicts_are_right_and_safe() -> None:
    margins, problems = score_verdicts(rows("memory-verdicts.csv"))
    assert problems == []
    assert margins[0].rows == 168
    assert margins[0].right >= 0.96
    assert margins[20].right >= 0.92
    assert margins[20].unsafe == 0
    assert margins[15].unsafe * 168 <= 1


def test_rows_without_full_configuration_never_count() -> None:
    scored, problems = score_measurements(rows("memory-measurements.csv"))
    assert "caveat" not in by_split(scored)
    assert len(problems) == 33
    assert all("not fully stated" in line for line in problems)


def test_no_model_of_the_calibration_is_off_as_a_whole() -> None:
    """Constants that fit five models and miss the sixth would show here."""
    names = {row["id"]: row["model"] for row in rows("memory-measurements.csv")}
    scored, _ = score_measurements(r for r in rows("memory-measurements.csv") if r["split"] == "calib")
    for model in {names[item.name] for item in scored}:
        errors = sorted(abs(item.error) for item in scored if names[item.name] == model)
        assert errors[len(errors) // 2] < 0.03, model


def changed(row: Row, **cells: str | None) -> Row:
    return {**row, **cells}


def broken(good: Row) -> Iterable[tuple[Row, str]]:
    yield {}, "layers"
    yield {"id": None, "split": None}, "layers"
    yield changed(good, layers="0"), "layers"
    yield changed(good, hidden="nan"), "hidden"
    yield changed(good, heads="1e400"), "heads"
    yield changed(good, vocab="many"), "vocab"
    yield changed(good, method="distil"), "method"
    yield changed(good, weights="fp2"), "weights"
    yield changed(good, sharding="moon"), "sharding"
    yield changed(good, lora_targets="everything"), "lora_targets"
    yield changed(good, tier="guess"), "tier"
    yield changed(good, measured_gib="0"), "measured_gib"
    yield changed(good, measured_gib="", unit="stone"), "unit"
    yield changed(good, measured_gib=None, measured=None), "measured"
    yield changed(good, seq_len="-1"), "seq_len"
    yield changed(good, params="1e30"), "params"


def test_a_row_that_cannot_be_read_is_named_and_the_rest_counts() -> None:
    good = next(row for row in rows("memory-measurements.csv") if row["method"] == "lora")
    for row, field in broken(good):
        scored, problems = score_measurements([row, good])
        assert [item.name for item in scored] == [good["id"]]
        assert len(problems) == 1
        assert field in problems[0]


def test_empty_cells_that_follow_from_others_are_filled() -> None:
    good = next(row for row in rows("memory-measurements.csv") if row["model"] == "Llama-2-70B")
    sparse = changed(good, params="", head_dim="", tied="", experts="", top_k="", mlp_mats="", flash="")
    full, filled = case_from_row(good).arch, case_from_row(sparse).arch
    assert filled.head_dim == full.head_dim == 128
    assert filled.params == pytest.approx(full.params, rel=1e-3)


def test_unknown_model_and_split_are_scored() -> None:
    good = rows("memory-measurements.csv")[0]
    scored, problems = score_measurements([changed(good, model="Nobody-9B", split="blind")])
    assert problems == []
    assert by_split(scored)["blind"].rows == 1


def test_verdict_rows_that_cannot_be_read_are_named() -> None:
    good = rows("memory-verdicts.csv")[0]
    bad = [changed(good, ran="maybe"), changed(good, card_usable_gib=""), {}]
    margins, problems = score_verdicts([*bad, good])
    assert margins[0].rows == 1
    assert ["ran" in problems[0], "card_usable_gib" in problems[1], "layers" in problems[2]] == [True] * 3


def test_no_rows_at_all() -> None:
    assert by_split(score_measurements([])[0]) == {}
    assert score_verdicts([])[0][20].rows == 0
