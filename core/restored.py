"""Was this database put back from a backup, and what has been looked through since? Few rows, read by key."""

from datetime import datetime
from typing import Any

from core import clock
from core.models import Restoration, RestorationStep


def begin(*, backup_at: datetime, version: str) -> Restoration:
    """Note that the database is now what it was at `backup_at`; every step is open again."""
    return Restoration.objects.create(backup_at=backup_at, restored_at=clock.system_now(), version=version)


def latest() -> Restoration | None:
    """The last restoration; None where the database has only ever gone forward."""
    return Restoration.objects.order_by("-pk").first()


def awaits(step: str) -> bool:
    """Whether the last restoration still waits for this look. 1 query, 2 after a restoration."""
    row = latest()
    return row is not None and not row.steps.filter(name=step).exists()


def facts_of(step: str) -> dict[str, Any] | None:
    """What a step of the last restoration noted; None while it is open."""
    row = latest()
    found = None if row is None else row.steps.filter(name=step).first()
    return None if found is None else found.facts


def done(step: str, **facts: Any) -> None:
    """This look has been made. Safe to repeat and at once: the first one counts. Nothing without a restoration."""
    row = latest()
    if row is not None:
        RestorationStep.objects.get_or_create(
            restoration=row, name=step, defaults={"facts": facts, "done_at": clock.system_now()}
        )
