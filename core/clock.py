"""The product's one clock. Only the demo may move it (one row); nothing else reads the time for business."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, date, datetime, time, timedelta

from django.conf import settings
from django.utils import timezone

from core.models import ClockOffset

# What is known of the offset within `offset_read_once`; empty until its first use there.
_known: ContextVar[list[timedelta] | None] = ContextVar("known_offset", default=None)


def system_now() -> datetime:
    """The machine's clock: for claim tokens, time-outs, ages of sweeps and pool checks."""
    return datetime.now(UTC)


def now() -> datetime:
    """The product's clock, an aware instant in UTC.

    Outside the demo it is the machine's clock and costs nothing. In the demo one row shifts it, so that a whole
    term can be watched; the row is read each time because every process must move at the same moment.
    """
    moment = timezone.now()
    if not settings.DEMO:
        return moment
    return moment + offset()


def midnight(day: date) -> datetime:
    """The first instant of a day in UTC."""
    return datetime.combine(day, time(), tzinfo=UTC)


def offset() -> timedelta:
    """How far the demo's clock runs ahead of the machine's."""
    known = _known.get()
    if known:
        return known[0]
    row = ClockOffset.objects.filter(pk=1).values_list("offset", flat=True).first() or timedelta(0)
    if known is not None:
        known.append(row)
    return row


@contextmanager
def offset_read_once(known: timedelta | None = None) -> Iterator[None]:
    """Read the row once in it, for a page that is only shown: it asks for the time dozens of times.

    `known`: the offset, where another query has just read it.
    """
    token = _known.set([] if known is None else [known])
    try:
        yield
    finally:
        _known.reset(token)


def skip(delta: timedelta) -> timedelta:
    """Move the demo's clock forward and return the new offset. Refuses to go back or to run outside the demo."""
    if not settings.DEMO:
        raise RuntimeError("Only the demo can move the clock.")
    if delta <= timedelta(0):
        raise ValueError("The clock only moves forward.")
    total = offset() + delta
    ClockOffset.objects.update_or_create(pk=1, defaults={"offset": total})
    return total
