"""Append an event to the log and, in the same transaction, one outbox row per handler."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Model

from core import clock, outbox
from core.models import Audience, Event, OutboxRow
from core.rows import Change, insert


def emit(
    *,
    name: str,
    subject: str,
    order_ref: str = "",
    audience: str = Audience.BUYER,
    payload: dict[str, Any] | None = None,
    change: Change | None = None,
    new: Sequence[Model] = (),
) -> Event:
    """Write one fact. Must run inside the transaction of the change that it tells of; `change` and the `new` rows are
    written with it, in one statement.

    Handlers come from the setting DOMAIN_EVENT_HANDLERS (event name -> task names). The tasks are sent after
    the commit; if that fails, the sweep finds the rows.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("An event is written in the transaction of the change that it tells of.")
    event = Event(
        name=name,
        subject=subject,
        order_ref=order_ref,
        audience=audience,
        payload=payload or {},
        at=clock.now(),
    )
    handlers: dict[str, list[str]] = settings.DOMAIN_EVENT_HANDLERS
    rows = [
        OutboxRow(event=event, handler=handler, subject=order_ref or subject, next_at=clock.system_now())
        for handler in handlers.get(name, [])
    ]
    insert(*new, event, *rows, change=change)
    for row in rows:
        transaction.on_commit(lambda row=row: outbox.send(row))  # type: ignore[misc]
    return event
