"""Command-line options of a plan, shared by every command that makes one."""

import argparse
from pathlib import Path
from typing import Final

from planner import config_json, run
from planner.errors import PlanError
from planner.presets import PRESETS

# name of the option -> field of the request
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "method": run.METHODS,
    "weights": run.WEIGHTS,
    "param-dtype": run.PARAM_DTYPES,
    "optimizer": run.OPTIMIZERS,
    "ckpt": run.CKPT,
    "loss-kernel": run.LOSS_KERNELS,
    "sharding": run.SHARDING,
    "framework": run.FRAMEWORKS,
    "engine": run.ENGINES,
    "kv-dtype": run.KV_DTYPES,
}
_NUMBERS: Final = (
    "lora-rank",
    "seq-len",
    "micro-batch",
    "accumulation",
    "n-cards",
    "tokens",
    "epochs",
    "chance",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Exactly one of --config, --preset and --params; the rest has defaults."""
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--config", type=Path, metavar="FILE", help="a Hugging Face config.json")
    model.add_argument("--preset", metavar="NAME", help=f"one of {', '.join(PRESETS)}")
    model.add_argument("--params", metavar="SIZE", help="number of parameters, such as 7e9 or 7B")
    for name, allowed in _CHOICES.items():
        parser.add_argument(f"--{name}", choices=allowed)
    for name in _NUMBERS:
        parser.add_argument(f"--{name}", metavar="N")
    parser.add_argument("--lora-targets", metavar="WORDS", help="attn, all, qv, or matrices by comma")
    parser.add_argument("--no-flash", action="store_true", help="attention that keeps its score matrices")
    parser.add_argument("--uneven", action="store_true", help="sequences of different length, not packed")
    parser.add_argument("--rocm-ready", action="store_true", help="your code runs on ROCm")
    for name in ("lot", "step-seconds", "peak-gib", "restore-minutes"):
        parser.add_argument(f"--pilot-{name}", metavar="N", help="from a pilot run on that lot")
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")


def mapping_from(options: dict[str, object]) -> dict[str, object]:
    """The fields of a request from parsed options. Raises PlanError for a file that cannot be read."""
    fields = [name.replace("-", "_") for name in (*_CHOICES, *_NUMBERS, "lora-targets")]
    given: dict[str, object] = {name: options[name] for name in fields if options.get(name) is not None}
    given["model"] = _model(options)
    if options.get("no_flash"):
        given["flash"] = False
    if options.get("uneven"):
        given["packing"] = False
    given["rocm_ready"] = bool(options.get("rocm_ready"))
    pilot = {
        name: options[f"pilot_{name}"]
        for name in ("lot", "step_seconds", "peak_gib", "restore_minutes")
        if options.get(f"pilot_{name}") is not None
    }
    if pilot:
        given["pilot"] = pilot
    return given


def _model(options: dict[str, object]) -> dict[str, object]:
    path = options.get("config")
    if isinstance(path, Path):
        return {"config": _read(path)}
    name = "preset" if options.get("preset") is not None else "params"
    return {name: options[name]}


def _read(path: Path) -> str:
    """At most one character more than is allowed, so that the refusal comes from one place."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(config_json.MAX_TEXT + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(
            code="config_unreadable", field="config", message="This file cannot be read as text."
        ) from error
