"""The one way a status changes: a table of allowed steps, a locked row, one event, one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, models

from core import clock, events
from core.locks import is_locked
from core.models import Audience
from core.rows import Change, update


class IllegalStep(Exception):
    """A step that the table does not know. A programming error or a race that was lost: never shown as success."""


@dataclass(frozen=True)
class Lifecycle:
    """`allowed` maps a state to the states that may follow; `names` overrides the event name of one step.

    `kind` prefixes events and subjects ("lease" -> "lease.ready", "lease:12"). `silent` steps emit nothing.
    """

    kind: str
    allowed: Mapping[str, frozenset[str]]
    names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()

    def can(self, origin: str, to: str) -> bool:
        return to in self.allowed.get(origin, frozenset())

    def event_name(self, origin: str, to: str) -> str | None:
        if (origin, to) in self.names:
            return self.names[(origin, to)]
        return None if to in self.silent else f"{self.kind}.{to}"

    def begin(
        self,
        row: models.Model,
        *,
        order_ref: str,
        payload: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Tell of a row that was just inserted in its first state: `<kind>.<state>` or `name`."""
        state: str = row.status  # type: ignore[attr-defined]
        events.emit(
            name=name or f"{self.kind}.{state}",
            subject=f"{self.kind}:{row.pk}",
            order_ref=order_ref,
            payload=payload,
        )

    def advance(
        self,
        row: models.Model,
        to: str,
        *,
        order_ref: str,
        payload: dict[str, Any] | None = None,
        audience: str = Audience.BUYER,
        at: datetime | None = None,
        also: Iterable[str] = (),
        new: Sequence[models.Model] = (),
    ) -> None:
        """Move a locked row to `to`: status, `<to>_at`, event and outbox rows, in the caller's transaction.

        `also` names further fields to save with it, `new` are rows that the step makes: inserted with its event, so
        only where it has one. Raises IllegalStep when the table forbids it and RuntimeError
        when the row is not locked.
        """
        if not connection.in_atomic_block or not is_locked(row):
            raise RuntimeError(f"{self.kind} {row.pk} must be locked before its state changes.")
        origin: str = row.status  # type: ignore[attr-defined]
        if not self.can(origin, to):
            raise IllegalStep(f"{self.kind} {row.pk}: {origin} -> {to}")
        row.status = to  # type: ignore[attr-defined]
        fields = {"status", *also}
        stamp = f"{to}_at"
        if hasattr(row, stamp):
            setattr(row, stamp, at or clock.now())
            fields.add(stamp)
        change = Change(row, sorted(fields))
        name = self.event_name(origin, to)
        if name is None:
            update(change)
            return
        events.emit(
            name=name,
            subject=f"{self.kind}:{row.pk}",
            order_ref=order_ref,
            audience=audience,
            payload=payload,
            change=change,
            new=new,
        )


def table(**steps: Iterable[str]) -> dict[str, frozenset[str]]:
    """A readable ALLOWED mapping."""
    return {origin: frozenset(following) for origin, following in steps.items()}
