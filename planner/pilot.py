"""Numbers from a real pilot run, which replace estimates."""

from dataclasses import dataclass

from planner import checks


@dataclass(frozen=True, slots=True)
class Pilot:
    """Measured by the buyer on one lot: seconds per optimizer step after warm-up, peak allocated memory of one
    card in GiB, minutes to restore a checkpoint in a new process. Each may be missing."""

    lot: str
    step_seconds: float | None = None
    peak_gib: float | None = None
    restore_minutes: float | None = None


def pilot_from_mapping(value: object) -> Pilot | None:
    """None where nothing was entered. Raises PlanError(field pilot.<name>)."""
    if value is None:
        return None
    data = checks.mapping(value, field="pilot")
    checks.known_fields(data, ("lot", "step_seconds", "peak_gib", "restore_minutes"), prefix="pilot.")
    bounds = {"step_seconds": (1e-4, 1e6), "peak_gib": (0.01, 10_000.0), "restore_minutes": (0.0, 10_000.0)}
    numbers = {
        name: checks.real(data[name], field=f"pilot.{name}", low=low, high=high)
        for name, (low, high) in bounds.items()
        if data.get(name) not in (None, "")
    }
    lot = data.get("lot")
    if not numbers:
        return None
    return Pilot(lot=checks.code(lot, field="pilot.lot"), **numbers)
