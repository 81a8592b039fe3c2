"""`python -m planner` works on its own: no settings, no database, nothing of ours."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from planner.__main__ import main

ROOT = Path(__file__).parents[2]
OURS = ("core", "catalog", "fleet", "orders", "billing", "shop", "partners", "guides", "anchorgpu")


def test_it_runs_without_settings_django_or_any_package() -> None:
    code = (
        "import sys, runpy; sys.argv = ['planner', '--params', '7e9', '--method', 'lora']\n"
        "try: runpy.run_module('planner', run_name='__main__')\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        f"foreign = {{'django', *{OURS!r}}} & roots\n"
        "foreign |= {n for n in roots - set(sys.stdlib_module_names) - {'planner', '__main__', '__mp_main__'}\n"
        "            if 'site-packages' in (getattr(sys.modules.get(n), '__file__', '') or '')}\n"
        "assert not foreign, foreign\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],  # -S: no site-packages at all
        cwd=ROOT,
        env={"PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Weights alone, bf16: 13.04 GiB. This is a lower bound; no run needs less." in done.stdout
    assert "The rule of thumb says 112.0 GB for full fine-tuning" in done.stdout


@pytest.mark.parametrize("text", ["7e9", "7B", "7000000000", "7.0b"])
def test_ways_to_write_a_size(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--params", text]) == 0
    out = capsys.readouterr().out
    assert "7,000,000,000 parameters" in out
    assert "Weights alone, bf16: 13.04 GiB." in out


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0", "Enter a number from"),
        ("-7e9", "Enter a number from"),
        ("1e30", "Enter a number from"),
        ("1e9999", "out of every range"),
        ("1e999999999", "Enter a number"),
        ("7000000.5", "whole number"),
        ("seven", "Enter a number"),
        ("", "Give exactly one"),
        ("nan", "Enter a number"),
        ("inf", "Enter a number"),
        ("B", "Enter a number"),
        ("7e9\x00", "Enter a number"),
        ("9" * 5000, "Enter a number"),
    ],
)
def test_what_is_no_size_ends_with_field_and_sentence(
    text: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([f"--params={text}"])
    assert ended.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "error: model" in last
    assert sentence in last


def test_unknown_choice_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--params", "7e9", "--weights", "bf17"])
    assert ended.value.code == 2
    assert "bf16" in capsys.readouterr().err


def test_config_file_lots_file_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.json"
    config.write_text(
        json.dumps(
            {
                "num_hidden_layers": 32,
                "hidden_size": 4096,
                "intermediate_size": 14336,
                "num_attention_heads": 32,
                "num_key_value_heads": 8,
                "vocab_size": 128256,
                "tie_word_embeddings": False,
            }
        )
    )
    lots = tmp_path / "lots.json"
    card = {"code": "h200x1", "memory_gb": 141, "bf16_dense_tflops": 989, "target": "sm_90"}
    lots.write_text(json.dumps([{**card, "prices": {"3": "323.28"}}]))
    arguments = [
        "--config",
        str(config),
        "--method",
        "lora",
        "--tokens",
        "5e8",
        "--lots",
        str(lots),
        "--json",
    ]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["model"]["params"] == 8_030_261_248
    assert document["recommended"] == "h200x1"
    assert document["lots"][0]["terms"][0]["price"] == "323.28"


@pytest.mark.parametrize("content", ["{", "{}", "[" * 20_000, "[1]", '[{"code": "UPPER"}]'])
def test_lots_that_are_none_end_with_a_sentence(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lots.json"
    file.write_text(content)
    with pytest.raises(SystemExit) as ended:
        main(["--params", "7B", "--lots", str(file)])
    assert ended.value.code == 2
    assert "error: lots" in capsys.readouterr().err


def test_config_that_is_not_there_names_the_field(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--config", "no/such/file.json"])
    assert ended.value.code == 2
    assert "error: config: This file cannot be read" in capsys.readouterr().err
