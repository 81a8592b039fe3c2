"""What a rival for the same cards hears: database errors of booking as refusals, in one place."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, OperationalError
from django.utils.translation import gettext_lazy as _
from psycopg import errors as pg

from core.errors import Conflict


def no_capacity() -> Conflict:
    """The refusal of a lot that is no longer free."""
    return Conflict(
        code="no_capacity", message=_("These cards are no longer available for this time."), field="lots"
    )


@contextmanager
def busy_on_lock_timeout() -> Iterator[None]:
    """Round a transaction or savepoint: a lock not got in time is `busy`, the constraint's veto `no_capacity`."""
    try:
        yield
    except OperationalError as error:
        if isinstance(error.__cause__, pg.LockNotAvailable | pg.DeadlockDetected):
            raise Conflict(
                code="busy", message=_("Many orders are being placed at this moment. Please try again.")
            ) from error
        raise
    except IntegrityError as error:
        if isinstance(error.__cause__, pg.ExclusionViolation):
            raise no_capacity() from error
        raise
