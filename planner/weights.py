"""Storage of weights by format, and the two sizes that need only a parameter count."""

from fractions import Fraction
from typing import Final

from planner.architecture import MAX_PARAMETERS, Architecture
from planner.checks import whole

GIB: Final = 2**30
GB: Final = 10**9

BYTES_PER_PARAMETER: Final[dict[str, Fraction]] = {
    "fp32": Fraction(4),
    "bf16": Fraction(2),
    "fp16": Fraction(2),
    "fp8": Fraction(1),
    "int8": Fraction(1),
    "nf4": Fraction(1, 2),
    "nf4dq": Fraction(1, 2),
    "gptq4": Fraction(1, 2),
}
"""Bytes of one value by definition of the format, without scales: the lower bound."""

QUANTISED: Final[dict[str, float]] = {
    "nf4": 0.5625,
    "nf4dq": 0.516,
    "gptq4": 0.5195,
    "int8": 1.02,
    "fp8": 1.0,
}
"""Bytes of one value of a layer's matrix with its scales.

nf4: 4 bit and one fp32 scale per 64 values. nf4dq: the scales themselves in 8 bit with one fp32 per 256.
gptq4: 4 bit, a 16-bit scale and a 4-bit zero per group of 128 (checkpoints without groups need 0.50).
int8: one byte and the row scales of LLM.int8. Source: definitions of bitsandbytes and GPTQ.
"""

RULE_OF_THUMB_BYTES: Final = 16
"""Bytes per parameter of the widely repeated rule "16 GB per billion parameters" for full fine-tuning."""


def stored_bytes(arch: Architecture, weights: str, *, upcast: bool = False) -> float:
    """Bytes of all weights on one card. Quantisation leaves embeddings, head and norms in 16 bit.

    `upcast` (prepare_model_for_kbit_training) keeps those in 32 bit.
    """
    if weights not in QUANTISED:
        return arch.params * float(BYTES_PER_PARAMETER[weights])
    kept = 4.0 if upcast else 2.0
    return QUANTISED[weights] * arch.linear_params + kept * arch.kept_params


def layer_bytes(arch: Architecture, weights: str) -> float:
    """Bytes of the largest layer's matrices in the format they are stored in."""
    return arch.layer_params * QUANTISED.get(weights, 2.0)


def weights_gib(parameters: int, dtype: str) -> float:
    """GiB (2^30 bytes) of the weights alone: the lower bound of what any run needs.

    `parameters` from 1 to 10^15, `dtype` a key of BYTES_PER_PARAMETER; PlanError or ValueError otherwise.
    """
    whole(parameters, field="params", low=1, high=MAX_PARAMETERS)
    if dtype not in BYTES_PER_PARAMETER:
        raise ValueError(f"dtype must be one of {', '.join(BYTES_PER_PARAMETER)}.")
    return float(parameters * BYTES_PER_PARAMETER[dtype] / GIB)


def rule_of_thumb_gb(parameters: int) -> float:
    """GB (10^9 bytes) that the rule of thumb says for full fine-tuning. `parameters` from 1 to 10^15."""
    whole(parameters, field="params", low=1, high=MAX_PARAMETERS)
    return parameters * RULE_OF_THUMB_BYTES / GB
