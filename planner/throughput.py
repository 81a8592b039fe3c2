"""Hours of training from published utilisation: how much of a card's dense rate real runs reach."""

from dataclasses import dataclass
from typing import Final

from planner import tensor
from planner.architecture import Architecture
from planner.lots import LotSpec
from planner.run import Run


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Share of the dense bf16 rate (MFU; recomputation counts as time, not as work): low, typical, high."""

    low: float
    typical: float
    high: float
    source: str


_A100: Final[dict[str, Utilisation]] = {
    "full": Utilisation(0.34, 0.47, 0.53, "foundation-model-stack, HF Trainer with FSDP, 1 to 4 A100"),
    "lora": Utilisation(0.18, 0.35, 0.40, "foundation-model-stack, LoRA on A100, 4 operations a parameter"),
    "qlora": Utilisation(0.17, 0.38, 0.45, "foundation-model-stack, QLoRA on A100, 4 operations a parameter"),
}
_HOPPER: Final = Utilisation(0.25, 0.30, 0.35, "llm-foundry, torchtitan and stas00 on H100 and H200")
_BLACKWELL: Final = Utilisation(0.23, 0.30, 0.38, "stas00 on B200")
_MI300: Final = Utilisation(0.20, 0.24, 0.28, "alpharomercoma, MI300X against H200, 8B training")
_UNPUBLISHED: Final = Utilisation(0.15, 0.25, 0.40, "")

BY_TARGET: Final[dict[str, Utilisation]] = {
    "sm_90": _HOPPER,
    "sm_100": _BLACKWELL,
    "gfx942": _MI300,
}
"""By the compiler's name of the card; a card that nobody published for gets a wide assumption without a source."""

LINKED: Final = 0.95
UNLINKED: Final = 0.90
"""Share of n cards' rate that n cards reach in one node: with a fast link between them, and over PCIe.
Source: foundation-model-stack, one to four cards within 2 to 4 points; the PCIe figure is an assumption."""

FAST_LINK_GB_S: Final = 300.0

STARVED_TOKENS: Final = 2048
SMALL_PARAMS: Final = 3.5e9
"""Below either, utilisation halves: micro-batches under 2,000 tokens, and models of 1 to 3 billion (20 to 25 %)."""

LONG_SEQUENCE: Final = 8192
"""Above it the work of attention itself, 6 L ad s per token, is added."""


@dataclass(frozen=True, slots=True)
class Hours:
    """Of one whole run. `low` is the fastest published utilisation, `high` the slowest."""

    low: float
    typical: float
    high: float

    def scaled(self, factor: float) -> "Hours":
        return Hours(self.low * factor, self.typical * factor, self.high * factor)


def utilisation(lot: LotSpec, run: Run) -> Utilisation:
    if lot.target == "sm_80":
        return _A100["qlora" if run.method == "qlora" else "lora" if run.adapted else "full"]
    return BY_TARGET.get(lot.target, _UNPUBLISHED)


def operations_per_token(arch: Architecture, run: Run) -> float:
    """Floating-point operations: 6 per active parameter, 4 where frozen matrices need no gradient."""
    per_parameter = 4.0 if run.adapted else 6.0
    work = per_parameter * arch.active_params
    if run.seq_len > LONG_SEQUENCE:
        work += per_parameter * arch.layers * arch.attention_width * run.seq_len
    return work


def training_hours(arch: Architecture, run: Run, lot: LotSpec, *, tokens: float, cards: int) -> Hours | None:
    """Hours of one run on `cards` cards working together. None where the card's dense rate is unknown."""
    if not lot.bf16_dense_tflops:
        return None
    share = utilisation(lot, run)
    starved = 0.5 if run.tokens < STARVED_TOKENS or arch.active_params < SMALL_PARAMS else 1.0
    together = 1.0 if cards == 1 else cards * _link_factor(lot, run)
    operations = operations_per_token(arch, run) * tokens
    full_rate = operations / (lot.bf16_dense_tflops * 1e12 * together * starved * 3600)
    return Hours(full_rate / share.high, full_rate / share.typical, full_rate / share.low)


def _link_factor(lot: LotSpec, run: Run) -> float:
    if run.tensor_parallel:
        return tensor.LINKED if fast_link(lot) else tensor.UNLINKED
    return LINKED if fast_link(lot) else UNLINKED


def fast_link(lot: LotSpec) -> bool:
    """Whether cards of the lot exchange data much faster than over PCIe."""
    return (lot.link_gb_s or 0.0) >= FAST_LINK_GB_S
