"""An architecture guessed from a size alone, and how far real models of that size lie from the guess."""

from dataclasses import dataclass
from typing import Final

from planner import checks
from planner.architecture import MAX_PARAMETERS, Architecture

MIN_PARAMETERS: Final = 1_000_000
MAX_NOMINAL: Final = MAX_PARAMETERS * 10 // 11

ASPECT: Final = 120
"""Hidden size divided by layers in published models from 1B to 405B: 102 (Llama-2-70B) to 130 (Llama-3.1-405B)."""

LAYER_FACTOR: Final = 13
"""Parameters of a layer divided by hidden^2: 2.5 for grouped attention, 10.5 for a gated MLP of 3.5 hidden."""


NOMINAL: Final = (0.95, 1.10)
"""True count over the size in the name: models called 7B have 6.7 (Llama-2) to 7.7 (Qwen) billion."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The model to plan for, with the leanest and the hungriest one that the buyer may mean.

    All three are the same where the architecture is known.
    """

    likely: Architecture
    lean: Architecture
    hungry: Architecture

    @property
    def certain(self) -> bool:
        return self.lean is self.likely


def known(arch: Architecture) -> Candidates:
    return Candidates(arch, arch, arch)


def guessed(params: object) -> Candidates:
    """`params` from 10^6 to nearly 10^15, as 8e9, 8B or a whole number. Raises PlanError(field model.params)."""
    count = checks.whole(params, field="model.params", low=MIN_PARAMETERS, high=MAX_NOMINAL)
    return Candidates(
        likely=_shape(count, vocab=128_256, aspect=ASPECT, grouped=4),
        lean=_shape(round(count * NOMINAL[0]), vocab=32_000, aspect=180, grouped=8),
        hungry=_shape(round(count * NOMINAL[1]), vocab=256_000, aspect=80, grouped=1),
    )


def _shape(params: int, *, vocab: int, aspect: int, grouped: int) -> Architecture:
    """A Llama-like model of this size: `grouped` query heads share a key head."""
    side = (params * aspect / LAYER_FACTOR) ** (1 / 3)
    hidden = max(64, round(side / 64) * 64)
    # A small model cannot spend more than half of its parameters on its vocabulary.
    vocab = max(256, min(vocab, params // (2 * hidden)))
    tied = params < 4_000_000_000
    rest = max(params - vocab * hidden * (1 if tied else 2), params // 4)
    layers = max(1, min(2_000, round(rest / (LAYER_FACTOR * hidden * hidden))))
    heads = max(1, hidden // 128)
    return Architecture(
        name="size",
        layers=layers,
        hidden=hidden,
        intermediate=round(3.5 * hidden),
        heads=heads,
        kv_heads=max(1, heads // grouped),
        head_dim=min(128, hidden),
        vocab=vocab,
        tied=tied,
        stated_params=params,
    )
