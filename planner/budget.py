"""The budget of one card: moments, the one that binds, and what each instrument would read, as ranges."""

from dataclasses import dataclass, replace
from typing import Final

from planner.architecture import Architecture
from planner.moments import Moment, training_moments
from planner.run import Run
from planner.serving import serving_moments
from planner.weights import GIB

CONTEXT_GIB: Final = (0.47, 0.7, 0.92)
"""CUDA context outside every allocator: low, middle, high. Source: stas00, by card and driver."""

COLLECTIVE_GIB: Final = (1.0, 1.5, 2.0)
"""Buffers of NCCL or RCCL per rank when cards work together. Source: stas00, 1 to 2."""

CACHE_SHARE: Final = (0.0, 0.32, 0.9)
"""Share of the activations that the allocator holds beyond its peak. Source: fms, median 0.32, p90 0.7 to 0.9."""

UNPACKED_SHARE: Final = 2.0
"""The same share where lengths vary and nothing is packed. Source: ms-swift, median 2, p90 3.3."""


@dataclass(frozen=True, slots=True)
class Range:
    """GiB."""

    low: float
    typical: float
    high: float


@dataclass(frozen=True, slots=True)
class Budget:
    """Bytes by moment. `spread` is (below, above) as shares, by how well the kind of run was measured."""

    moments: tuple[Moment, ...]
    spread: tuple[float, float]
    cards: int
    packing: bool

    @property
    def binding(self) -> Moment:
        """The moment with the largest total: only what it holds is worth reducing."""
        return max(self.moments, key=lambda moment: moment.total)

    def scaled(self, factor: float) -> "Budget":
        """Every byte times what a pilot measured over what was predicted; the spread is the pilot's then."""
        return replace(self, moments=tuple(m.scaled(factor) for m in self.moments), spread=MEASURED_SPREAD)

    @property
    def tensors_gib(self) -> float:
        return self.binding.total / GIB

    @property
    def context_gib(self) -> float:
        return CONTEXT_GIB[1] + (COLLECTIVE_GIB[1] if self.cards > 1 else 0.0)

    @property
    def required_gib(self) -> float:
        """What must be free on the card: tensors, context, communication, and waste by uneven lengths."""
        return self.tensors_gib + self.context_gib + self.waste_gib

    @property
    def waste_gib(self) -> float:
        """What uneven lengths leave unusable at the worst moment, which need not be the one that binds."""
        return 0.0 if self.packing else self._held(UNPACKED_SHARE) - self.tensors_gib

    @property
    def shown_gib(self) -> float:
        """What nvidia-smi will read: the allocator keeps blocks that activations have left."""
        return self.reserved_gib + self.context_gib

    @property
    def reserved_gib(self) -> float:
        """What the allocator reports as reserved."""
        return self._held(CACHE_SHARE[1] if self.packing else UNPACKED_SHARE)

    def _held(self, share: float) -> float:
        return max(m.total + share * m.activations for m in self.moments) / GIB

    @property
    def tensors(self) -> Range:
        below, above = self.spread
        return Range(self.tensors_gib * (1 - below), self.tensors_gib, self.tensors_gib * (1 + above))

    @property
    def required(self) -> Range:
        together = self.cards > 1
        low = self.tensors.low + CONTEXT_GIB[0] + (COLLECTIVE_GIB[0] if together else 0.0)
        high = self.tensors.high + CONTEXT_GIB[2] + (COLLECTIVE_GIB[2] if together else 0.0)
        return Range(low + self.waste_gib, self.required_gib, high + self.waste_gib)

    @property
    def shown(self) -> Range:
        """Never below what is required at its low end; the high end is a full cache."""
        context = self.required.high - self.tensors.high - self.waste_gib
        share = CACHE_SHARE[2] if self.packing else UNPACKED_SHARE
        high = self._held(share) * (1 + self.spread[1]) + context
        return Range(self.required.low, self.shown_gib, max(high, self.shown_gib))


MEASURED_SPREAD: Final = (0.05, 0.05)
OTHER_SPREAD: Final = (0.12, 0.15)
"""Shares below and above a prediction between which about nine of ten measured rows lie: of split calib, and of
split test (docs/planner.md)."""


def budget(arch: Architecture, run: Run) -> Budget:
    """Memory of one card for one run. Bytes inside, GiB in the properties."""
    moments = training_moments(arch, run) if run.trained else serving_moments(arch, run)
    together = run.n_cards if run.sharding != "none" else 1
    return Budget(moments, _spread(run), together, run.packing)


def _spread(run: Run) -> tuple[float, float]:
    """Narrow where split calib holds runs of this kind, wide elsewhere (docs/planner.md gives both tables)."""
    near = (
        run.ckpt == "full"
        and run.flash
        and run.framework == "hf_trainer"
        and run.loss_kernel in {"hf", "fast_ce", "fused_ce"}
        and run.optimizer in {"adamw", "adamw_fused"}
        and run.method != "infer"
        and not run.tensor_parallel
    )
    return MEASURED_SPREAD if near else OTHER_SPREAD
