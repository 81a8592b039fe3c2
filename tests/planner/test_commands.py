"""`manage.py plan` and `plan_check`: thin faces of the planner, with files and a catalogue."""

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from catalog.services.seed import Seeded
from tests.planner.test_goals import DATA, rows

MEASUREMENTS = str(DATA / "memory-measurements.csv")
VERDICTS = str(DATA / "memory-verdicts.csv")


def said(*arguments: str) -> list[str]:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().splitlines()


def test_plan_check_prints_one_object_last() -> None:
    lines = said("plan_check", "--measurements", MEASUREMENTS, "--verdicts", VERDICTS, "--json")
    document = json.loads(lines[-1])
    assert set(document) == {"measurements", "verdicts"}
    assert set(document["measurements"]) == {"calib", "device", "test", "infer", "varlen"}
    assert set(document["measurements"]["calib"]) == {"rows", "median", "p90", "under_5"}
    assert list(document["verdicts"]) == ["0", "5", "10", "15", "20"]
    assert set(document["verdicts"]["0"]) == {"rows", "right", "unsafe"}
    assert 0 < document["measurements"]["calib"]["median"] < 0.02
    assert any(line.startswith("calib") and "120" in line for line in lines)


def test_plan_check_without_verdicts_or_json() -> None:
    lines = said("plan_check", "--measurements", MEASUREMENTS)
    assert any(line.startswith("test") for line in lines)
    assert not any(line.startswith(("{", "margin")) for line in lines)


@pytest.mark.parametrize(
    "content", ["", "\n", "id\n", "a,b\n1,2\n", "\x00\xff,\n\x00", "id,layers\nx,1,2,3,4\n"]
)
def test_plan_check_survives_strange_files(content: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(content.encode("latin-1"))
    lines = said("plan_check", "--measurements", str(file), "--verdicts", str(file), "--json")
    document = json.loads(lines[-1])
    assert document["measurements"] == {}
    assert document["verdicts"]["0"]["rows"] == 0


def test_plan_check_names_bad_rows_and_counts_the_rest(tmp_path: Path) -> None:
    good = rows("memory-measurements.csv")[0]
    file = tmp_path / "rows.csv"
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, list(good))
        writer.writeheader()
        writer.writerows([{**good, "id": "bad", "layers": ""}, good])
    lines = said("plan_check", "--measurements", str(file), "--json")
    assert lines[0] == "row 1 (bad): layers: This cell is empty."
    assert json.loads(lines[-1])["measurements"]["calib"]["rows"] == 1


def test_plan_check_without_a_file_ends_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        said("plan_check", "--measurements", str(tmp_path / "none.csv"))


def test_plan_judges_the_lots_of_the_catalogue(seeded: Seeded) -> None:
    lines = said("plan", "--preset", "llama-3-8b", "--tokens", "0.5B")
    assert "Start with: h200-sxm-141x1." in lines
    assert any("3 days, 934.56 USD" in line for line in lines)  # the published price of two B200


def test_plan_as_json_for_some_lots(seeded: Seeded) -> None:
    arguments = ["--preset", "llama-3-8b", "--method", "lora", "--lots", "b200-180x2", "--json"]
    document = json.loads(said("plan", *arguments)[-1])
    assert [lot["lot"] for lot in document["lots"]] == ["b200-180x2"]
    assert document["lots"][0]["terms"][0]["price"] == "934.56"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--params", "1e30"], "model.params"),
        (["--preset", "nothing"], "model.preset"),
        (["--params", "7B", "--seq-len", "0"], "seq_len"),
        (["--params", "7B", "--lots", "none"], "lots"),
        (["--config", "no/such/file"], "config"),
    ],
)
def test_plan_refuses_with_the_field(seeded: Seeded, arguments: list[str], field: str) -> None:
    with pytest.raises(CommandError, match=rf"^{field}: "):
        said("plan", *arguments)
