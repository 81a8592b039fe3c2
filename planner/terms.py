"""What a term holds: whole runs, whether the run finishes, idle hours, and the cost of one successful result."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Final

from planner.throughput import Hours

USABLE_SHARE: Final = 0.80
"""Share of a term that trains: the rest is loading, environment, pilot, validation, checkpoints and export."""

RESTART_HOURS: Final = 2.0
"""Hours that each run may lose: load, verify, one restore. An assumption until a pilot times a restore."""

LOAD_HOURS: Final = 1.0
"""The part of it that is not the restore."""


@dataclass(frozen=True, slots=True)
class TermResult:
    """One term of one lot. `finish`: yes (even a slow run), likely (a typical one), no, unknown (no rate).

    `runs` are whole runs by a typical one, `runs_slow` by a slow one; of a lot of separate cards, together.
    `per_success` is the whole price / (runs x chance), exact; None where there is no run or no price.
    `idle_hours` is what of the usable time a typical plan leaves. `largest_tokens` fits even if slow.
    """

    days: int
    currency: str
    price: Decimal
    usable_hours: float
    finish: str
    runs: int | None
    runs_slow: int | None
    per_success: Fraction | None
    per_success_slow: Fraction | None
    idle_hours: float | None
    largest_tokens: int | None


def term_result(
    *,
    days: int,
    price: Decimal,
    currency: str,
    hours: Hours | None,
    tokens: float | None,
    chance: Fraction,
    separate: int,
    restart_hours: float = RESTART_HOURS,
) -> TermResult:
    """`separate` cards work on runs of their own. `chance` above 0, up to 1."""
    usable = days * 24 * USABLE_SHARE
    if hours is None or tokens is None:
        return TermResult(days, currency, price, usable, "unknown", None, None, None, None, None, None)
    typical = whole_runs(usable, hours.typical, restart_hours)
    slow = whole_runs(usable, hours.high, restart_hours)
    return TermResult(
        days=days,
        currency=currency,
        price=price,
        usable_hours=usable,
        finish="yes" if slow else "likely" if typical else "no",
        runs=typical * separate,
        runs_slow=slow * separate,
        per_success=cost_per_success(price, typical * separate, chance),
        per_success_slow=cost_per_success(price, slow * separate, chance),
        idle_hours=max(usable - typical * (hours.typical + restart_hours), 0.0),
        largest_tokens=int(tokens * max(usable - restart_hours, 0.0) / hours.high),
    )


def whole_runs(usable_hours: float, run_hours: float, restart_hours: float) -> int:
    """Whole runs, each with its allowance for a restart, that fit one after the other. 0 is said as 0."""
    return int(usable_hours // (run_hours + restart_hours))


def cost_per_success(price: Decimal, runs: int, chance: Fraction) -> Fraction | None:
    """Whole price / (runs x chance), exact, so that half the chance is twice the cost. None for 0 runs."""
    return Fraction(price) / (runs * chance) if runs else None


def shown_amount(amount: Fraction) -> Decimal:
    """An exact amount rounded half up to the cent, for a face to show."""
    # The quotient has 28 digits, far beyond any price, so that only this rounding counts.
    quotient = Decimal(amount.numerator) / Decimal(amount.denominator)
    return quotient.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
