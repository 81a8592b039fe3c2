"""Rows of published measurements and verdicts, read with care: what cannot be read is named, never guessed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from planner import checks
from planner.architecture import MAX_PARAMETERS, Architecture
from planner.errors import PlanError
from planner.run import Run, run_from_mapping
from planner.weights import GB, GIB

Row = Mapping[str, str | None]

_ACCUMULATION: Final = re.compile(r"grad[ _]accum\w* (\d{1,4})\b")
TIERS: Final = ("alloc", "reserved", "device")
_UNITS: Final = {"B": 1, "MiB": 2**20, "GB": GB, "GiB": GIB}
_SHAPE: Final = ("layers", "hidden", "intermediate", "heads", "vocab")


@dataclass(frozen=True, slots=True)
class Case:
    """One row, ready to be computed. `split` and `tier` are empty for verdicts."""

    name: str
    split: str
    tier: str
    arch: Architecture
    run: Run


def case_from_row(row: Row) -> Case:
    """Raises PlanError naming the cell that is missing or absurd."""
    return Case(
        name=_text(row, "id") or "row",
        split=_text(row, "split") or "unnamed",
        tier=checks.choice(_text(row, "tier") or "alloc", field="tier", allowed=TIERS),
        arch=architecture_from_row(row),
        run=run_from_row(row),
    )


def architecture_from_row(row: Row) -> Architecture:
    """Sizes of the model; kv_heads and head_dim follow from the others where their cells are empty."""
    sizes = {name: _whole(row, name) for name in _SHAPE}
    heads = sizes["heads"]
    return Architecture(
        name=_text(row, "model") or "unnamed",
        **sizes,
        kv_heads=_whole(row, "kv_heads", heads),
        head_dim=_whole(row, "head_dim", max(sizes["hidden"] // max(heads, 1), 1)),
        tied=bool(_whole(row, "tied", 0)),
        mlp_mats=_whole(row, "mlp_mats", 3),
        experts=_whole(row, "experts", 0),
        top_k=_whole(row, "top_k", 0),
        stated_params=_stated(row),
    )


def run_from_row(row: Row) -> Run:
    """The run's choices. The framework and preparation stand in words in `caveat` or `framework`."""
    words = f"{_text(row, 'caveat')} {_text(row, 'framework')}"
    sharding = _text(row, "sharding") or "none"
    given: dict[str, object] = {
        "method": _text(row, "method") or None,
        "weights": _text(row, "weights") or None,
        "param_dtype": _text(row, "param_dtype") or None,
        "optimizer": _text(row, "optimizer") or None,
        "optimizer_bytes": _text(row, "opt_bytes_per_trainable") or None,
        "lora_rank": _number(row, "lora_rank"),
        "lora_targets": _text(row, "lora_targets") or None,
        "seq_len": _number(row, "seq_len"),
        "micro_batch": _number(row, "micro_batch"),
        "ckpt": _text(row, "ckpt") or None,
        "flash": _number(row, "flash"),
        "loss_kernel": _text(row, "loss_kernel") or None,
        "n_cards": _number(row, "n_gpus"),
        "sharding": {"ddp_like": "ddp"}.get(sharding, sharding),
        "framework": framework_in(words, sharding),
        "upcast": "prepare_model_for_kbit" in words and _text(row, "method") == "qlora",
        "accumulation": accumulation_in(words),
        "packing": _text(row, "split") != "varlen",
    }
    return run_from_mapping(given)


def framework_in(words: str, sharding: str) -> str:
    """DeepSpeed by its sharding or name, HF Trainer by its name, else unknown."""
    if sharding.startswith("zero") or "DeepSpeed" in words:
        return "deepspeed"
    return "hf_trainer" if "HF Trainer" in words else "other"


def accumulation_in(words: str) -> int:
    """Micro-batches per step where the words give them."""
    found = _ACCUMULATION.search(words)
    return max(int(found.group(1)), 1) if found else 1


def measured_gib(row: Row) -> float:
    """The measured peak per card in GiB. Raises PlanError when the row has none."""
    text = _text(row, "measured_gib")
    if text:
        return checks.real(text, field="measured_gib", low=1e-6, high=1e6)
    unit = checks.choice(_text(row, "unit"), field="unit", allowed=tuple(_UNITS))
    value = checks.real(_text(row, "measured"), field="measured", low=1e-6, high=1e18)
    return value * _UNITS[unit] / GIB


def usable_gib(row: Row) -> float:
    """Memory of the card of a verdict, GiB."""
    return checks.real(_text(row, "card_usable_gib"), field="card_usable_gib", low=0.1, high=1e5)


def ran(row: Row) -> bool:
    """Whether the run finished."""
    return checks.truth(_text(row, "ran"), field="ran")


def _text(row: Row, name: str) -> str:
    return (row.get(name) or "").strip()


def _stated(row: Row) -> int | None:
    """The published count, or None for an empty cell: then the parts are summed."""
    text = _text(row, "params")
    return int(checks.real(text, field="params", low=1, high=MAX_PARAMETERS)) if text else None


def _number(row: Row, name: str) -> str | None:
    return _text(row, name) or None


def _whole(row: Row, name: str, default: int | None = None) -> int:
    text = _text(row, name)
    if not text and default is not None:
        return default
    if not text:
        raise PlanError(code="missing", field=name, message="This cell is empty.")
    low = 0 if default is not None else 1
    return checks.whole(text, field=name, low=low, high=10**9)
