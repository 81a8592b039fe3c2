"""A savepoint without journeys to the database of its own: every booking makes one, and each journey takes its time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def savepoint(name: str) -> Iterator[str]:
    """The words that make it, to be sent in front of the first statement inside; after an error all goes back to it.

    It ends with the transaction. `name` is ours, never a value from outside. Django knows nothing of it: whoever
    catches a database error has to be outside.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A savepoint needs a transaction.")
    connection.validate_no_broken_transaction()
    try:
        yield f"SAVEPOINT {name}; "
    except BaseException:
        # The ORM takes the whole transaction for broken when a write of its own fails; all that failed goes back here.
        connection.set_rollback(False)
        with connection.cursor() as cursor:
            cursor.execute(f"ROLLBACK TO SAVEPOINT {name}")
        raise
