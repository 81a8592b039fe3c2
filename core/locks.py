"""Named row locks. `mark` notes on the instance that its row is locked; lifecycles insist on it."""

import hashlib
from typing import TypeVar

from django.conf import settings
from django.db import connection, models

from core.models import Decision, OutboxRow

M = TypeVar("M", bound=models.Model)

_FLAG = "_row_lock_held"


def mark(instance: M) -> M:
    """Note that this row was read with FOR UPDATE in the running transaction."""
    if not connection.in_atomic_block:
        raise RuntimeError("A row lock needs a transaction.")
    setattr(instance, _FLAG, True)
    return instance


def is_locked(instance: models.Model) -> bool:
    """Whether `mark` was called for this instance and a transaction is still open."""
    return bool(getattr(instance, _FLAG, False)) and connection.in_atomic_block


def limit_lock_wait() -> None:
    """Bound the wait for locks in this transaction: after it PostgreSQL answers 55P03, which callers call busy."""
    milliseconds = int(settings.LOCK_TIMEOUT_SECONDS * 1000)
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{milliseconds}ms'")


def lock_login_network(network: str) -> None:
    """Serialise the counting of staff logins of one network until the transaction ends (advisory)."""
    digest = hashlib.sha256(f"core.login:{network}".encode()).digest()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int.from_bytes(digest[:8], "big", signed=True)])


def decision_for_update(decision_id: int) -> Decision:
    """One decision row."""
    return mark(Decision.objects.select_for_update().get(pk=decision_id))


def outbox_row_for_update(row_id: int) -> OutboxRow:
    """One outbox row, parked or not."""
    return OutboxRow.objects.select_for_update().get(pk=row_id)
