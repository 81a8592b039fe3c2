"""Named row locks. `mark` notes on the instance that its row is locked; lifecycles insist on it."""

import hashlib
from typing import TypeVar

from django.conf import settings
from django.db import connection, models
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from core.models import Decision, OutboxRow, OutgoingMail

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


def number_of(word: str) -> int:
    """The number by which PostgreSQL knows an advisory lock of ours. Words begin with their app."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big", signed=True)


def lock_word(word: str) -> None:
    """An advisory lock until the transaction ends, for what has no row; each app's `locks` names its own."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number_of(word)])


def lock_login_network(network: str) -> None:
    """Serialise the counting of staff logins of one network until the transaction ends (advisory)."""
    lock_word(f"core.login:{network}")


def lock_owners() -> None:
    """Serialise changes of who is an owner until the transaction ends (advisory): one of them always stays."""
    lock_word("core.owners")


def totp_device_for_update(
    *, user_id: int, number: object = None, confirmed: bool = True
) -> TOTPDevice | None:
    """The authenticator of a member of staff, so that one code is accepted once; or the one being set up."""
    rows = TOTPDevice.objects.select_for_update().filter(user_id=user_id, confirmed=confirmed)
    return (rows if number is None else rows.filter(pk=number)).order_by("pk").first()


def static_device_for_update(*, user_id: int) -> StaticDevice | None:
    """The recovery codes of a member of staff."""
    return StaticDevice.objects.select_for_update().filter(user_id=user_id, confirmed=True).first()


def decision_for_update(decision_id: int) -> Decision:
    """One decision row."""
    return mark(Decision.objects.select_for_update().get(pk=decision_id))


def outbox_row_for_update(row_id: int) -> OutboxRow:
    """One outbox row, parked or not."""
    return OutboxRow.objects.select_for_update().get(pk=row_id)


def row_for_update(row: M) -> M:
    """A row that staff edit, read anew: whoever saves it after this one sees what this one has saved.

    Without its key: rows that only point to it, such as the log of an editor's own acts, are written meanwhile.
    """
    return type(row)._default_manager.select_for_update(of=("self",), no_key=True).get(pk=row.pk)


def mail_for_update(mail_id: int) -> OutgoingMail | None:
    """One outgoing mail, or None."""
    return OutgoingMail.objects.select_for_update().filter(pk=mail_id).first()


def mails_for_update(rows: models.QuerySet[OutgoingMail]) -> list[OutgoingMail]:
    """Several outgoing mails, by key: a worker that has just sent one writes it before or after, never between."""
    return list(rows.order_by("pk").select_for_update(of=("self",)))
