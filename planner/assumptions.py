"""What a plan takes for granted, so that a buyer can correct it."""

from planner import budget, tensor, terms
from planner.notes import Note
from planner.request import PlanRequest


def assumptions(request: PlanRequest) -> tuple[Note, ...]:
    """In reading order: where the figures come from, the model, the run, the term."""
    run = request.run
    notes = [
        Note("from_published"),
        Note("units"),
        Note("context", {"low": budget.CONTEXT_GIB[0], "high": budget.CONTEXT_GIB[2]}),
    ]
    if not request.candidates.certain:
        notes.append(Note("guessed_shape", {"layers": request.candidates.likely.layers}))
    if run.trained:
        notes.append(Note("longest_batch", {"seq_len": run.seq_len, "micro_batch": run.micro_batch}))
        notes.append(Note("packed" if run.packing else "not_packed"))
    else:
        notes.append(Note("cache_full", {"seq_len": run.seq_len, "conversations": run.micro_batch}))
    if run.adapted:
        notes.append(Note("adapter_dropout" if run.lora_dropout else "adapter_no_dropout"))
    if run.accumulation > 1:
        notes.append(Note("accumulation", {"steps": run.accumulation}))
    if run.tensor_parallel:
        notes.append(Note("tensor_split"))
    if request.tokens is not None and run.trained:
        if run.tensor_parallel:
            fast, slow = (round(100 * share) for share in (tensor.LINKED, tensor.UNLINKED))
            notes.append(Note("tensor_speed", {"fast_percent": fast, "slow_percent": slow}))
        notes.append(Note("usable_share", {"percent": round(100 * terms.USABLE_SHARE)}))
        notes.append(Note("chance", {"percent": float(100 * request.chance)}))
        pilot = request.pilot
        if pilot is None or pilot.restore_minutes is None:
            notes.append(Note("restart_hours", {"hours": terms.RESTART_HOURS}))
    return tuple(notes)
