"""Celery's scheduler without its file: nothing to keep, so that any number of beats run anywhere."""

from celery.beat import Scheduler


class Rounds(Scheduler):
    """Each start begins with a round of everything: a daily sweep would else never run beside daily restarts.

    That is allowed as often as it happens. A sweep finds due work by a query, and two that run at once share it.
    """

    def setup_schedule(self) -> None:
        super().setup_schedule()
        for name, entry in self.schedule.items():
            entry.last_run_at -= self.app.conf.beat_schedule[name]["schedule"]
