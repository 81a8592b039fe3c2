"""Cheaper ways to the same result: what each saves on this run, and its price in speed."""

from dataclasses import dataclass, replace
from typing import Final

from planner.run import Run
from planner.verdicts import Budgets

HELPS: Final = 0.01
"""A lever that saves less than 1 % of what is required does not help: another moment binds."""


@dataclass(frozen=True, slots=True)
class Lever:
    """`speed` is the code of its price (planner.texts); `slower` the published share of speed lost, if any."""

    code: str
    run: Run
    required_gib: float
    saved_gib: float
    helps: bool
    speed: str
    slower: tuple[float, float] | None = None


_CKPT: Final = (0.21, 0.30)
"""Speed lost by full checkpointing. Sources: torchtune 3B, 21 %; ms-swift 7B, 30 %."""


def levers(budgets: Budgets, run: Run) -> tuple[Lever, ...]:
    """Every lever that this run has not pulled, those that save most first."""
    _, now = budgets.of(run)
    found = []
    for code, changed, speed, slower in _changes(run):
        _, required = budgets.of(changed)
        saved = now - required
        found.append(Lever(code, changed, required, saved, saved >= HELPS * now, speed, slower))
    return tuple(sorted(found, key=lambda lever: -lever.saved_gib))


_Change = tuple[str, Run, str, tuple[float, float] | None]


def _changes(run: Run) -> list[_Change]:
    if not run.trained:
        return _serving_changes(run)
    return [*_activation_changes(run), *_state_changes(run), *_method_changes(run)]


def _activation_changes(run: Run) -> list[_Change]:
    changes: list[_Change] = []
    if run.ckpt != "full":
        changes.append(("checkpoint", replace(run, ckpt="full"), "slower_published", _CKPT))
    if run.loss_kernel != "fused_ce":
        changes.append(("fused_loss", replace(run, loss_kernel="fused_ce"), "none", None))
    if not run.flash:
        changes.append(("flash", replace(run, flash=True), "faster", None))
    if run.micro_batch > 1:
        smaller = replace(run, micro_batch=1, accumulation=min(run.accumulation * run.micro_batch, 10**6))
        changes.append(("micro_batch", smaller, "slower_small_batch", None))
    if not run.packing:
        changes.append(("packing", replace(run, packing=True), "faster", None))
    return changes


def _state_changes(run: Run) -> list[_Change]:
    changes: list[_Change] = []
    if run.optimizer == "adamw":
        changes.append(("fused_step", replace(run, optimizer="adamw_fused"), "none", None))
    if run.method == "full" and run.param_dtype == "fp32":
        bf16 = replace(run, param_dtype="bf16", optimizer_bytes=None)
        changes.append(("bf16_state", bf16, "none_check_quality", None))
    if run.method == "full" and "8bit" not in run.optimizer:
        narrow = replace(run, optimizer="adamw8bit", optimizer_bytes=None)
        changes.append(("optimizer_8bit", narrow, "none_check_quality", None))
    if run.method == "full" and not run.in_backward:
        inside = replace(run, optimizer="adamw8bit_inbwd", optimizer_bytes=None, accumulation=1)
        changes.append(("optimizer_in_backward", inside, "no_accumulation", None))
    return changes


def _method_changes(run: Run) -> list[_Change]:
    changes: list[_Change] = []
    if run.method in {"full", "lora_emb"}:
        lora = replace(run, method="lora", param_dtype="bf16", optimizer="adamw", optimizer_bytes=None)
        changes.append(("lora", lora, "other_result", None))
    if run.method in {"full", "lora", "lora_emb"}:
        qlora = replace(
            run,
            method="qlora",
            weights="nf4dq",
            param_dtype="bf16",
            optimizer="adamw",
            optimizer_bytes=None,
        )
        changes.append(("qlora", qlora, "other_result_slower", None))
    return changes


def _serving_changes(run: Run) -> list[_Change]:
    changes: list[_Change] = []
    if run.engine == "generate":
        changes.append(("paged_cache", replace(run, engine="vllm"), "faster", None))
    if run.kv_dtype != "fp8":
        changes.append(("cache_fp8", replace(run, kv_dtype="fp8"), "none_check_quality", None))
    if run.weights in {"bf16", "fp16", "fp32"}:
        changes.append(("weights_4bit", replace(run, weights="gptq4"), "none_check_quality", None))
    if run.micro_batch > 1:
        changes.append(("one_conversation", replace(run, micro_batch=1), "slower_small_batch", None))
    return changes
