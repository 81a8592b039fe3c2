"""What to check on a lot beyond its memory: stack, compiler target, link, and the reading of its size."""

from typing import Final

from planner.lots import LotSpec
from planner.notes import Note
from planner.run import Run
from planner.throughput import BY_TARGET, fast_link
from planner.verdicts import Fit

BLACKWELL: Final = frozenset({"sm_100", "sm_103", "sm_120", "sm_121"})

CONSUMER_GB: Final = (24, 32)
"""Memory of cards that people own: RTX 3090, 4090 and A5000 have 24 GB, RTX 5090 has 32."""


def cautions(lot: LotSpec, run: Run, fit: Fit, *, published_size: bool) -> tuple[Note, ...]:
    """In the order in which a buyer should check them."""
    return (
        *_stack(lot, run),
        *_together(lot, fit),
        *_figures(lot, published_size),
    )


def _stack(lot: LotSpec, run: Run) -> list[Note]:
    notes = []
    if lot.stack == "ROCm":
        notes.append(Note("rocm_confirm", {"accelerator": lot.accelerator_name}))
        if run.method == "qlora" or run.weights in {"nf4", "nf4dq", "int8", "gptq4"}:
            notes.append(Note("rocm_quantised_kernels"))
        if run.trained and run.loss_kernel != "hf":
            notes.append(Note("rocm_loss_kernel"))
    if lot.target in BLACKWELL:
        notes.append(Note("blackwell_build", {"target": lot.target}))
    return notes


def _together(lot: LotSpec, fit: Fit) -> list[Note]:
    if lot.cards == 1:
        return []
    notes = [Note("memory_not_pooled", {"cards": lot.cards, "usable_gib": _per_card(lot)})]
    if fit.shape == "independent":
        notes.append(Note("separate_runs", {"cards": lot.cards}))
    elif fit.shape in {"fsdp", "zero3"}:
        notes.append(Note("sharding_communicates", {"cards": fit.run.n_cards}))
        if fit.verdict == "no" and fit.budget.binding.activations > fit.budget.binding.total / 2:
            notes.append(Note("activations_not_sharded"))
    elif fit.shape == "tp":
        notes.append(Note("tensor_needs_link", {"cards": fit.run.n_cards}))
    elif fit.shape == "ddp":
        notes.append(Note("ddp_same_memory", {"cards": fit.run.n_cards}))
    if fit.budget.cards > 1:
        notes.append(Note("confirm_topology"))
        if not fast_link(lot):
            notes.append(Note("slow_link", {"link": lot.link or "?"}))
    return notes


def _per_card(lot: LotSpec) -> float:
    return float(lot.usable_gib) if lot.usable_gib is not None else (lot.memory_gb or 0) * 1e9 / 2**30


def _figures(lot: LotSpec, published_size: bool) -> list[Note]:
    notes = []
    if not published_size:
        notes.append(Note("usable_pessimistic", {"memory_gb": lot.memory_gb or 0}))
    if not lot.bf16_dense_tflops:
        notes.append(Note("rate_unknown", {"accelerator": lot.accelerator_name}))
    elif lot.target != "sm_80" and lot.target not in BY_TARGET:
        notes.append(Note("utilisation_assumed", {"accelerator": lot.accelerator_name}))
    return notes


def consumer_hint(required_gib: float) -> Note | None:
    """A card that many people own carries the run with 20 % to spare: renting is not needed."""
    for memory_gb in CONSUMER_GB:
        usable = memory_gb * 1e9 / 2**30
        if (usable - required_gib) / usable >= 0.20:
            return Note("consumer_card_enough", {"memory_gb": memory_gb, "required_gib": required_gib})
    return None
