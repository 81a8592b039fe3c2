"""The outbox: rows are the truth, a task on the broker is only a hint that one is due (DESIGN rule 8)."""

from collections.abc import Callable
from datetime import timedelta

import structlog
from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from core import clock, decisions, hints, log_context
from core.models import Event, OutboxRow

log = structlog.get_logger(__name__)

Handler = Callable[[Event], None]
_handlers: dict[str, Handler] = {}


def handler(name: str) -> Callable[[Handler], Handler]:
    """Register a function as the handler (and the Celery task) `name` for events.

    The function runs inside one transaction with the outbox row: it writes rows only, no network I/O, and its
    effect happens once however often the task is delivered.
    """

    def register(function: Handler) -> Handler:
        _handlers[name] = function

        def run(row_id: int) -> None:
            process(row_id)

        run.__name__ = function.__name__
        run.__module__ = function.__module__
        shared_task(name=name, ignore_result=True)(run)
        return function

    return register


def registered() -> frozenset[str]:
    """Names of all handlers known to this process."""
    return frozenset(_handlers)


def send(row: OutboxRow) -> None:
    """Hint to a worker that `row` is due. One try; a lost hint is found by the sweep."""
    hint(row.handler, row.pk)


def hint(task: str, *args: object) -> bool:
    """Have a task sent by name, soon and once, by the thread of core.hints. A lost hint is found by the sweep."""
    return hints.give(task, *args)


def process(row_id: int) -> bool:
    """Run one row's handler. True if the row is done afterwards.

    Locks the row (SKIP LOCKED: a second worker leaves at once). A row waits while an earlier row of the same
    handler and subject is pending, so that order is kept per subject. A failure is written on the row with a
    growing pause; after OUTBOX_PARK_AFTER_SECONDS it is parked as a decision and the next one goes on.
    """
    try:
        with transaction.atomic():
            row = (
                OutboxRow.objects.select_for_update(skip_locked=True, of=("self",))
                .select_related("event")
                .filter(pk=row_id, status=OutboxRow.Status.PENDING)
                .first()
            )
            if row is None or _has_predecessor(row):
                return False
            with log_context.within(order=row.event.order_ref, handler=row.handler):
                _handlers[row.handler](row.event)
            OutboxRow.objects.filter(pk=row.pk).update(status=OutboxRow.Status.DONE, last_error="")
            transaction.on_commit(lambda: _send_next(row))
    except Exception as error:
        log.exception("outbox_handler_failed", row=row_id)
        _record_failure(row_id, error)
        return False
    return True


def _has_predecessor(row: OutboxRow) -> bool:
    return OutboxRow.objects.filter(
        handler=row.handler, subject=row.subject, status=OutboxRow.Status.PENDING, pk__lt=row.pk
    ).exists()


def _send_next(row: OutboxRow) -> None:
    following = (
        OutboxRow.objects.filter(
            handler=row.handler, subject=row.subject, status=OutboxRow.Status.PENDING, pk__gt=row.pk
        )
        .order_by("pk")
        .first()
    )
    if following is not None:
        send(following)


def _record_failure(row_id: int, error: Exception) -> None:
    moment = clock.system_now()
    with transaction.atomic():
        row = OutboxRow.objects.select_for_update().select_related("event").get(pk=row_id)
        if row.status != OutboxRow.Status.PENDING:
            return
        row.attempts += 1
        row.first_failed_at = row.first_failed_at or moment
        row.last_error = f"{type(error).__name__}: {error}"[:2000]
        row.next_at = moment + timedelta(seconds=min(600, 2**row.attempts))
        if moment - row.first_failed_at >= timedelta(seconds=settings.OUTBOX_PARK_AFTER_SECONDS):
            row.status = OutboxRow.Status.PARKED
            decisions.open_decision(
                kind="outbox_parked",
                subject=f"outbox:{row.pk}",
                order_ref=row.event.order_ref,
                facts={"handler": row.handler, "event": row.event.name, "error": row.last_error},
            )
        row.save()


def due_ids(limit: int = 200) -> list[int]:
    """Pending rows whose time has come, oldest first; of each handler and subject only the first, so that rows that
    wait behind a failing one never crowd out others."""
    earlier = OutboxRow.objects.filter(
        handler=OuterRef("handler"),
        subject=OuterRef("subject"),
        status=OutboxRow.Status.PENDING,
        pk__lt=OuterRef("pk"),
    )
    return list(
        OutboxRow.objects.filter(status=OutboxRow.Status.PENDING, next_at__lte=clock.system_now())
        .exclude(Exists(earlier))
        .order_by("pk")
        .values_list("pk", flat=True)[:limit]
    )


def drain(limit: int = 1000) -> int:
    """Run due rows in this process until none makes progress; how many were done."""
    done = 0
    while done < limit:
        progress = sum(process(row_id) for row_id in due_ids())
        if not progress:
            break
        done += progress
    return done
