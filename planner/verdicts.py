"""Whether a run fits a lot: free memory after what is required, in four words."""

from dataclasses import dataclass, replace
from typing import Final

from planner.architecture import Architecture
from planner.budget import Budget, budget
from planner.lots import LotSpec
from planner.run import Run
from planner.sizes import Candidates
from planner.weights import GB, GIB

COMFORTABLE: Final = 0.20
PILOT: Final = 0.10
TIGHT: Final = 0.03
"""Free share of the usable memory. At 20 % none of the runs of memory-verdicts.csv that died was said to fit, at
15 % none either, at 10 % three of 168; docs/planner.md has the table. 0.03: below it allocators fail at random."""

ORDER: Final = ("comfortable", "pilot", "tight", "no")


@dataclass(frozen=True, slots=True)
class Fit:
    """One shape on one lot. `required_gib` is per card and the figure that was judged."""

    shape: str
    run: Run
    budget: Budget
    required_gib: float
    free_share: float
    verdict: str

    @property
    def rank(self) -> int:
        return ORDER.index(self.verdict)


class Budgets:
    """Budgets of one plan by shape, so that a catalogue of lots needs each only once.

    `memory_factor` is pilot peak / predicted peak. For a guessed architecture the hungry end is judged.
    """

    def __init__(self, candidates: Candidates, memory_factor: float = 1.0) -> None:
        self.candidates = candidates
        self.memory_factor = memory_factor
        self._seen: dict[Run, tuple[Budget, float]] = {}

    def of(self, run: Run) -> tuple[Budget, float]:
        """The budget of the likely model, and the GiB of one card that must be free."""
        if run not in self._seen:
            self._seen[run] = self._compute(run)
        return self._seen[run]

    def _compute(self, run: Run) -> tuple[Budget, float]:
        likely = self._scaled(self.candidates.likely, run)
        # A pilot has measured the model that there is; how it could have been shaped no longer matters.
        if self.candidates.certain or self.memory_factor != 1.0:
            return likely, likely.required_gib
        lean = self._scaled(self.candidates.lean, run)
        hungry = self._scaled(self.candidates.hungry, run)
        peak = likely.tensors_gib
        spread = (
            max(1 - lean.tensors.low / peak, likely.spread[0]),
            max(hungry.tensors.high / peak - 1, likely.spread[1]),
        )
        return replace(likely, spread=spread), max(hungry.required_gib, likely.required_gib)

    def _scaled(self, arch: Architecture, run: Run) -> Budget:
        found = budget(arch, run)
        return found if self.memory_factor == 1.0 else found.scaled(self.memory_factor)


def usable_gib(lot: LotSpec) -> tuple[float, bool] | None:
    """GiB that a program can use on one card, and whether somebody published it. None where nothing is known.

    Unpublished: the vendor's GB read as 10^9 bytes, the pessimistic reading.
    """
    if lot.usable_gib is not None:
        return float(lot.usable_gib), True
    return None if lot.memory_gb is None else (lot.memory_gb * GB / GIB, False)


def grade(free_share: float, cards_together: int) -> str:
    """The word for a free share. Cards that work together are not sold as a fit below 20 %."""
    if free_share >= COMFORTABLE:
        return "comfortable"
    if free_share >= PILOT and cards_together == 1:
        return "pilot"
    return "tight" if free_share >= TIGHT else "no"


def best_fit(budgets: Budgets, run: Run, lot: LotSpec, usable: float, *, shape_given: bool) -> Fit:
    """The shape to take: as asked, or one card if it fits comfortably, else sharding where that is better."""
    if shape_given:
        return fit(budgets, run, usable, _given_shape(run, lot))
    alone = fit(budgets, run, usable, _alone(lot))
    if lot.cards == 1 or alone.verdict == "comfortable":
        return alone
    split = replace(run, n_cards=lot.cards, sharding="fsdp")
    together = fit(budgets, split, usable, "fsdp" if run.trained else "split")
    # Where nothing fits, the divided need is the one that says how far off the lot is.
    return together if together.rank < alone.rank or alone.verdict == "no" else alone


def fit(budgets: Budgets, run: Run, usable: float, shape: str) -> Fit:
    found, required = budgets.of(run)
    free = (usable - required) / usable
    return Fit(shape, run, found, required, free, grade(free, found.cards))


def _given_shape(run: Run, lot: LotSpec) -> str:
    if run.n_cards == 1 or run.sharding == "none":
        return _alone(lot)
    return run.sharding if run.trained or run.tensor_parallel else "split"


def _alone(lot: LotSpec) -> str:
    return "single" if lot.cards == 1 else "independent"
