"""What a micro-batch leaves on the card: kept per layer, needed while one layer or the loss is differentiated.

All results are bytes per token. Symbols as in docs/planner.md: h hidden, i MLP width, ad and kd widths of queries
and keys, V vocabulary, s sequence, L layers.
"""

from typing import Final

from planner.adapters import adapter_input_width, trains_down
from planner.architecture import Architecture
from planner.run import Run

EAGER_RETAINED: Final = 2.9
"""Score matrices (heads x s, 16 bit) that each layer keeps without flash attention. Source: fitcheck, T4 runs."""

EAGER_WORKING: Final = 9.0
"""Score matrices at once while one layer is differentiated without flash attention. Source: fitcheck."""

COMPILE_FACTOR: Final = 0.7
"""What a compiler leaves of the kept activations by recomputing cheap steps. Source: torchtune, one table."""

DROPOUT_BYTES: Final = 3.3
"""Bytes per value entering a LoRA pair: dropped-out copy 2, mask 1, and the low-rank rest. Source: litgpt, fms."""

EAGER_NORM_BYTES: Final = 8
"""Bytes per hidden value and layer: two norms that are not fused keep an fp32 copy of their input (4 each).
Seen on split calib as the difference between runs with and without fused kernels (Llama-2-70B: 65.8 kB a token,
8 h = 65.5 kB)."""

LOSS_COPIES: Final[dict[str, float]] = {
    "hf": 12.0,
    "fast_ce": 8.0,
    "chunked": 4.5,
    "compiled_chunked": 4.5,
    "compiled": 13.0,
    "fused_ce": 0.0,
}
"""Bytes per logit at the peak of the loss. hf: bf16 logits, fp32 copy, log-softmax and its gradient, 12 on split
calib (PowerLM-3b 12.0, transformers 4.48); other framework versions 12 to 14. fast_ce: 8 on calib (Llama-3-8B
8.0). chunked 4 to 5 (torchtune). fused_ce never has the logits whole (Liger)."""


def wide_stream(arch: Architecture, run: Run) -> bool:
    """Whether the residual stream runs in fp32.

    prepare_model_for_kbit_training does it, except under FSDP, whose mixed precision casts back (calib: equal to
    the byte). LayerNorm models do it under autocast, which LoRA and QLoRA runs use: LayerNorm answers in fp32.
    """
    return (run.upcast and not run.gathers) or (run.adapted and not arch.gated)


def stored(arch: Architecture, run: Run) -> float:
    """Kept from forward to backward with full checkpointing: one hidden state per layer."""
    return (4 if wide_stream(arch, run) else 2) * arch.layers * arch.hidden


def layer_inside(arch: Architecture, run: Run) -> float:
    """One layer opened for its backward pass: its recomputed values and those that flow beside them.

    RMSNorm and gated MLP: 2 (8 h + 2 ad + 2 kd + 4 i); LayerNorm and plain MLP: 2 (5 h + 2 ad + 2 kd + 2 i).
    Measured slope of Mistral-7B on calib 240 kB a token, this and the gradients give 240 kB.
    """
    h, i = arch.hidden, arch.active_width
    inside = 2.0 * ((8 if arch.gated else 5) * h + (4 if arch.gated else 2) * i) + _attention_values(arch)
    if run.eager_norms:
        inside += EAGER_NORM_BYTES * h
    if wide_stream(arch, run):
        inside += 2.0 * (8 if arch.gated else 5) * h  # the values of width h take 4 bytes instead of 2
    if run.method == "qlora":
        inside -= 2.0 * h  # calib: kernels for quantised weights keep one value of width h less
    return (inside + _adapter_bytes(arch, run)) * _compile_factor(run)


def kept_per_layer(arch: Architecture, run: Run) -> float:
    """Kept by one layer from forward to backward without checkpointing.

    The same tensors as `layer_inside`, by Korthikanti et al.'s method of counting; the 8 h of RMSNorm are its two
    fp32 copies, so fused norms, which keep their 16-bit input only, need 4 h bytes less for each.
    """
    h, i = arch.hidden, arch.active_width
    kept = 2.0 * ((8 if arch.gated else 5) * h + (4 if arch.gated else 2) * i) + _attention_values(arch)
    if not run.eager_norms:
        kept -= EAGER_NORM_BYTES * h
    if wide_stream(arch, run):
        kept += 4.0 * h  # input and middle of the residual stream in 4 bytes instead of 2
    return (kept + _adapter_bytes(arch, run)) * _compile_factor(run)


def _attention_values(arch: Architecture) -> float:
    """Queries, keys, values and the result of flash attention."""
    return 4.0 * (arch.attention_width + arch.kv_width)


def _compile_factor(run: Run) -> float:
    return COMPILE_FACTOR if run.compiled or run.loss_kernel.startswith("compiled") else 1.0


def _adapter_bytes(arch: Architecture, run: Run) -> float:
    """A frozen last MLP matrix needs no input for its gradient; each adapted matrix keeps its own."""
    if not run.adapted:
        return 0.0
    saved = 0.0 if trains_down(run.lora_targets) else 2.0 * arch.active_width
    dropout = DROPOUT_BYTES * adapter_input_width(arch, run.lora_targets) if run.lora_dropout else 0.0
    return dropout - saved


def retained(arch: Architecture, run: Run) -> float:
    """Kept from forward to backward over all layers, by the checkpointing that was chosen."""
    if run.ckpt == "full":
        return stored(arch, run)
    if run.ckpt == "selective":
        h, i, ad, kd = arch.hidden, arch.active_width, arch.attention_width, arch.kv_width
        return 2.0 * arch.layers * (2 * h + 0.5 * (ad + 2 * kd + 2 * h + 2 * i))
    scores = 0.0 if run.flash else EAGER_RETAINED * 2 * arch.heads * run.seq_len
    return arch.layers * (kept_per_layer(arch, run) + scores)


def layer_working(arch: Architecture, run: Run) -> float:
    """Needed while one layer is differentiated, beyond what `retained` counts: its recomputed inside and the
    gradients that run through it."""
    gradients = 2.0 * (arch.active_width + 2 * arch.hidden)
    inside = layer_inside(arch, run)
    scores = 0.0 if run.flash else EAGER_WORKING * 2 * arch.heads * run.seq_len
    if run.ckpt == "none":
        # The layer's own values are kept already.
        inside = max(inside - kept_per_layer(arch, run), 0.0)
        scores *= 1 - EAGER_RETAINED / EAGER_WORKING
    return inside + gradients + scores


def loss_working(arch: Architecture, run: Run) -> float:
    """Needed while the loss is differentiated: copies of the logits and the last hidden state."""
    wide = wide_stream(arch, run)
    copies = LOSS_COPIES[run.loss_kernel]
    if run.loss_kernel in {"hf", "fast_ce"}:
        copies = _whole_logit_copies(arch, run, copies, wide)
    hidden = 4 + (4 if run.eager_norms else 0)
    return copies * arch.vocab + hidden * arch.hidden * (2 if wide else 1)


def _whole_logit_copies(arch: Architecture, run: Run, copies: float, wide: bool) -> float:
    """GPT-style code computes the loss in the dtype of the logits: four copies, three with a fused kernel
    (calib: 8, 6 in bf16; 16, 12 in fp32). Llama-style code casts to fp32 once. HF Trainer works under autocast,
    so the head answers in 16 bit whatever the stream is (calib: PowerLM-3b); elsewhere an fp32 stream makes
    fp32 logits, 3 bytes more (fitcheck)."""
    if not arch.gated:
        return (4 if run.loss_kernel == "hf" else 3) * (4.0 if wide else 2.0)
    return copies + (3.0 if wide and run.framework != "hf_trainer" else 0.0)


def boundary(arch: Architecture, run: Run) -> float:
    """HF Trainer with FSDP and LoRA keeps the gradient of every layer's input until the backward pass ends.
    Seen to the byte on calib: 2 (L - 2) h per token; not seen on DeepSpeed or torchtune."""
    if run.adapted and run.gathers and run.framework == "hf_trainer":
        return 2.0 * max(arch.layers - 2, 0) * arch.hidden
    return 0.0
