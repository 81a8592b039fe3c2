"""Memory of a served model: weights, the cache of keys and values, and what passes through."""

from typing import Final

from planner.architecture import Architecture
from planner.moments import WORKSPACE, Moment
from planner.run import Run
from planner.tensor import card_slice
from planner.weights import GIB, stored_bytes

GENERATE_FACTOR: Final = 1.9
"""Hugging Face generate holds the old and the new cache at once. Source: Qwen's tables, 1.8 to 2.0."""

VLLM_BATCHED_TOKENS: Final = 8192
"""Tokens of one prefill in vLLM by default: its profile run holds their logits and activations (1 to 9 GiB)."""

KV_BYTES: Final[dict[str, float]] = {"bf16": 2.0, "fp8": 1.0}


def kv_bytes_per_token(arch: Architecture, kv_dtype: str) -> float:
    """Cache of one token over all layers. Exact against fitcheck (4 runs) and vLLM #12330."""
    return arch.cached_values_per_token * KV_BYTES[kv_dtype]


def serving_moments(arch: Architecture, run: Run) -> tuple[Moment, ...]:
    """One moment: the longest conversation of each slot is full. Split over cards, weights and cache divide."""
    vocab = arch.vocab
    n = run.n_cards if run.sharding not in {"none", "ddp", "tp"} else 1
    if run.tensor_parallel:
        arch = card_slice(arch, run.n_cards)
    weights = stored_bytes(arch, run.weights)
    cache = kv_bytes_per_token(arch, run.kv_dtype) * run.tokens
    if run.engine == "generate":
        cache *= GENERATE_FACTOR
    return (
        Moment(
            "decode",
            weights=weights / n + WORKSPACE,
            kept=cache / n,
            working=_passing(arch, run, vocab),
        ),
    )


def _passing(arch: Architecture, run: Run, vocab: int) -> float:
    """Logits of the tokens that are computed at once (16 bit and fp32), and one layer's inside.

    `vocab` is that of the whole model: the card that picks the next token has the logits of all.
    """
    at_once = VLLM_BATCHED_TOKENS if run.engine == "vllm" else run.micro_batch
    inside = 2.0 * (2 * arch.hidden + arch.attention_width + 2 * arch.kv_width + 2 * arch.active_width)
    return at_once * (6.0 * vocab + inside)


def cache_tokens(found: Moment, run: Run, *, free_gib: float) -> int:
    """Tokens of cache that fit into `free_gib` of one card beside the run's other needs, all conversations together.

    `found` is the run's own moment; `free_gib` what it may use of the card after everything but its cache.
    """
    return max(int(free_gib * GIB / (found.kept / run.tokens)), 0)
