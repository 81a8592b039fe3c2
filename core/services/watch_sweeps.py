"""A sweep that has not finished for long is work that nobody does: staff are asked, until it runs again."""

from core import clock, decisions, sweeps
from core.models import Decision, SweepRun

KIND = "sweep_late"
# The name of the sweep that calls this.
OWN_NAME = "late_sweeps"


def watch_sweeps() -> None:
    """Open a decision for each late sweep and close those that run again. Safe to repeat.

    Where this sweep has not run for long either, the whole worker was down: the others get one round to catch up.
    """
    own = SweepRun.objects.filter(name=OWN_NAME).first()
    if own is None or own.last_finished_at is None or _age_is_over(own):
        return
    late = {run.name: run for run in sweeps.late() if run.name != OWN_NAME}
    for name, run in late.items():
        decisions.open_decision(
            kind=KIND,
            subject=f"sweep:{name}",
            facts={
                "sweep": name,
                "last_finished_at": run.last_finished_at.isoformat() if run.last_finished_at else "",
                "limit_seconds": int(sweeps.limit(name).total_seconds()),
                "last_error": run.last_error[:500],
            },
        )
    for decision in Decision.objects.filter(kind=KIND, closed_at=None):
        if decision.subject.removeprefix("sweep:") not in late:
            decisions.close_open(kind=KIND, subject=decision.subject, reason="The sweep runs again.")


def _age_is_over(run: SweepRun) -> bool:
    finished = run.last_finished_at
    return finished is None or clock.system_now() - finished > sweeps.limit(OWN_NAME)
