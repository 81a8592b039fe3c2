"""What a rival for the same cards hears: database errors of booking as refusals, in one place."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import IntegrityError, OperationalError, connection
from django.utils.translation import gettext_lazy as _
from psycopg import errors as pg

from core.errors import Conflict


def no_capacity() -> Conflict:
    """The refusal of a lot that is no longer free."""
    return Conflict(
        code="no_capacity", message=_("These cards are no longer available for this time."), field="lots"
    )


def busy() -> Conflict:
    """The refusal of a booking that did not get its turn in time."""
    return Conflict(code="busy", message=_("Many orders are being placed at this moment. Please try again."))


class Patience:
    """How long one booking waits for locks, in all: LOCK_TIMEOUT_SECONDS over every lock and every attempt.

    PostgreSQL's lock_timeout runs anew for each row. The limit of a whole statement bounds their sum; it is set
    again, with what is left, before a later statement that may wait, and taken off when nothing waits any more.
    """

    # Less than this is not worth a statement of its own.
    _STEP = 0.05

    def __init__(self) -> None:
        self._until = time.monotonic() + settings.LOCK_TIMEOUT_SECONDS
        self._left_when_set = 0.0

    def begin(self) -> str:
        """The limit for the statements that follow, by the time that is left, to be sent together with the first of
        them. Raises Conflict(busy) where no time is left."""
        left = self._until - time.monotonic()
        milliseconds = int(left * 1000)
        if milliseconds <= 0:
            raise busy()
        self._left_when_set = left
        return f"SET LOCAL statement_timeout TO '{milliseconds}ms'; "

    def renew(self) -> None:
        """Set the limit again before a second wait, where the first one has cost time."""
        if self._left_when_set - (self._until - time.monotonic()) > self._STEP:
            with connection.cursor() as cursor:
                cursor.execute(self.begin())

    def end(self) -> str:
        """Takes the limit off, together with the first statement after the last lock: it is not ours to bound."""
        return "SET LOCAL statement_timeout TO DEFAULT; "

    @contextmanager
    def bounds(self) -> Iterator[None]:
        """Round a lock that comes before the booking itself. Conflict(busy) ends the caller's transaction."""
        with busy_on_lock_timeout(), connection.cursor() as cursor:
            cursor.execute(self.begin())
            yield
            cursor.execute(self.end())


@contextmanager
def busy_on_lock_timeout() -> Iterator[None]:
    """Round a transaction or savepoint: a lock not got in time is `busy`, the constraint's veto `no_capacity`."""
    try:
        yield
    except OperationalError as error:
        if isinstance(error.__cause__, pg.LockNotAvailable | pg.DeadlockDetected | pg.QueryCanceled):
            raise busy() from error
        raise
    except IntegrityError as error:
        if isinstance(error.__cause__, pg.ExclusionViolation):
            raise no_capacity() from error
        raise
