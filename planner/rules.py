"""The rules of thumb that buyers have read, beside our budget, with the reasons for the difference."""

from dataclasses import dataclass
from typing import Final

from planner.architecture import Architecture
from planner.budget import Budget
from planner.notes import Note
from planner.recipes import recipes
from planner.run import Run
from planner.weights import GB, GIB, rule_of_thumb_gb

LADDER: Final[tuple[tuple[str, int], ...]] = (
    ("bf16_8bit", 6),
    ("bf16_fused", 8),
    ("bf16", 10),
    ("fp32_fused", 16),
    ("mixed", 18),
    ("fp32", 20),
)
"""Bytes per trained parameter by recipe at the optimizer step, copies included (planner.recipes)."""

TABLE_GB_PER_BILLION: Final[dict[str, float]] = {
    "full_fp16": 9.6,
    "lora_fp16": 2.1,
    "qlora_fp8": 1.27,
    "qlora_fp4": 0.67,
}
"""The circulating table for 1B, 7B, 14B and 70B (67, 15, 9 and 5 GB at 7B), as GB per billion parameters: its
four rows are proportional to the size. Full is pure bf16 without activations; the others are weights and 5 to 9 %."""


@dataclass(frozen=True, slots=True)
class Rules:
    """GB (10^9 bytes). `table_row` and `table_gb` are None where the table has no row for the method."""

    rule_gb: float
    table_row: str | None
    table_gb: float | None
    ours_gb: float
    reasons: tuple[Note, ...]


def rules_of_thumb(arch: Architecture, run: Run, budget: Budget) -> Rules:
    row = _row(run)
    billions = arch.params / 1e9
    return Rules(
        rule_gb=rule_of_thumb_gb(arch.params),
        table_row=row,
        table_gb=None if row is None else TABLE_GB_PER_BILLION[row] * billions,
        ours_gb=budget.required_gib * GIB / GB,
        reasons=tuple(_reasons(arch, run, budget)),
    )


def _row(run: Run) -> str | None:
    if run.method == "full":
        return "full_fp16"
    if run.method == "qlora":
        return "qlora_fp8" if run.weights in {"int8", "fp8"} else "qlora_fp4"
    return None if run.method == "infer" else "lora_fp16"


def _reasons(arch: Architecture, run: Run, budget: Budget) -> list[Note]:
    if run.method == "infer":
        return [Note("rule_is_for_training", {"cache_gib": budget.binding.kept / GIB})]
    reasons = []
    if run.method == "full":
        recipe = recipes(arch, run)[0]
        weights = 4.0 if run.param_dtype == "fp32" else 2.0
        ours = weights + recipe.gradients + recipe.optimizer + recipe.copies
        if not run.in_backward:
            reasons.append(Note("rule_recipe", {"ours": ours, "rule": 16}))
        else:
            reasons.append(Note("rule_in_backward"))
    else:
        share = sum(r.params for r in recipes(arch, run)) / arch.params
        reasons.append(Note("rule_adapters_only", {"percent": 100 * share}))
    if run.method == "qlora":
        reasons.append(Note("rule_embeddings_stay", {"gib": 2 * arch.kept_params / GIB}))
    reasons.append(Note("rule_activations_left_out", {"gib": _activations(budget)}))
    if run.shards or run.tensor_parallel:
        reasons.append(Note("rule_not_sharded", {"cards": run.n_cards}))
    return reasons


def _activations(budget: Budget) -> float:
    return max(moment.activations for moment in budget.moments) / GIB
