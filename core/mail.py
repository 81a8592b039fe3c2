"""Outgoing mail: a row first, the transport later, each mail once. The HTML part is made when a mail leaves."""

import uuid
from datetime import timedelta
from smtplib import SMTPRecipientsRefused
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import connection, transaction

from core import claims, clock, decisions, outbox
from core.mail_html import html_of
from core.models import OutgoingMail
from core.text import flatten

log = structlog.get_logger(__name__)

# A transport call takes seconds; a worker killed in the middle blocks the mail for this long.
CLAIM_SECONDS = 60
MAX_ATTEMPTS = 8
# RFC 5321: from here on a refusal is for good.
_SMTP_FINAL = 500


def queue_mail(
    *, key: str, to: str, language: str, subject: str, text: str, order_ref: str = ""
) -> OutgoingMail:
    """Queue a mail in the caller's transaction. `key` makes it once: a repeat returns the row that is there."""
    values = {
        "key": key,
        "to": flatten(to),
        "language": language,
        "subject": flatten(subject)[:250],
        "text": text,
        "order_ref": order_ref,
        "status": OutgoingMail.Status.QUEUED,
        "attempts": 0,
        "next_at": clock.system_now(),
        "last_error": "",
        "queued_at": clock.now(),
    }
    mail_id = _insert_once(values)
    if mail_id is None:
        return OutgoingMail.objects.get(key=key)
    transaction.on_commit(lambda: outbox.hint("core.send_mail", mail_id))
    return OutgoingMail(pk=mail_id, **values)


def _insert_once(values: dict[str, Any]) -> int | None:
    """The new row's key, or None where this mail is there already: one statement in place of a look, a savepoint, an
    insert and its end. Every order queues a mail while it holds its locks."""
    columns, places = ", ".join(f'"{name}"' for name in values), ", ".join(["%s"] * len(values))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO core_outgoingmail ({columns}) VALUES ({places})"  # noqa: S608  # nosec B608 # our own names
            " ON CONFLICT (key) DO NOTHING RETURNING id",
            list(values.values()),
        )
        row = cursor.fetchone()
    return int(row[0]) if row is not None else None


def send_one(mail_id: int) -> bool:
    """Send one queued mail; True if it left. The row is claimed, the transport runs outside any transaction.

    A failure is tried again with growing pauses; after MAX_ATTEMPTS, or where the server refuses the address for
    good, it is a decision and the next mails go on.
    """
    if not settings.MAIL_IS_SENT:
        return False
    queued = OutgoingMail.objects.filter(pk=mail_id, status=OutgoingMail.Status.QUEUED)
    token = claims.claim(queued, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    mail = OutgoingMail.objects.get(pk=mail_id)
    try:
        _message(mail).send()
    except Exception as error:
        _record_failure(mail, token, error)
        return False
    return bool(
        OutgoingMail.objects.filter(pk=mail.pk, claim_token=token).update(
            status=OutgoingMail.Status.SENT,
            sent_at=clock.now(),
            claim_token=None,
            claim_until=None,
            last_error="",
        )
    )


def _message(mail: OutgoingMail) -> EmailMultiAlternatives:
    message = EmailMultiAlternatives(mail.subject, mail.text, settings.DEFAULT_FROM_EMAIL, [mail.to])
    # The same row sent twice after a kill carries the same identity, so that a mailbox can tell.
    message.extra_headers["Message-ID"] = f"<mail-{mail.pk}@anchorgpu.invalid>"
    message.extra_headers["Content-Language"] = mail.language
    # Nobody reads an answer to a machine; without this one, absence notes come back.
    message.extra_headers["Auto-Submitted"] = "auto-generated"
    message.attach_alternative(
        html_of(subject=mail.subject, text=mail.text, language=mail.language), "text/html"
    )
    return message


def _is_final(error: Exception) -> bool:
    """The server has said that this address takes no mail; asking again changes nothing."""
    return isinstance(error, SMTPRecipientsRefused) and all(
        code >= _SMTP_FINAL for code, _words in error.recipients.values()
    )


def _record_failure(mail: OutgoingMail, token: uuid.UUID, error: Exception) -> None:
    attempts = mail.attempts + 1
    failed = attempts >= MAX_ATTEMPTS or _is_final(error)
    log.warning("mail_failed", mail=mail.pk, attempts=attempts, error=type(error).__name__)
    with transaction.atomic():
        is_ours = OutgoingMail.objects.filter(pk=mail.pk, claim_token=token).update(
            attempts=attempts,
            status=OutgoingMail.Status.FAILED if failed else OutgoingMail.Status.QUEUED,
            next_at=clock.system_now() + timedelta(seconds=min(3600, 5 * 2**attempts)),
            last_error=f"{type(error).__name__}: {error}"[:2000],
            claim_token=None,
            claim_until=None,
        )
        # Not where the claim is gone: another worker has the mail, or its reader was erased while it was on its way.
        if failed and is_ours:
            decisions.open_decision(
                kind="mail_failed",
                subject=f"mail:{mail.pk}",
                order_ref=mail.order_ref,
                facts={"to": mail.to, "subject": mail.subject, "error": str(error)[:500]},
            )


def due_ids(limit: int = 100) -> list[int]:
    """Queued mails whose time has come; none where no transport is configured."""
    if not settings.MAIL_IS_SENT:
        return []
    return list(
        OutgoingMail.objects.filter(status=OutgoingMail.Status.QUEUED, next_at__lte=clock.system_now())
        .order_by("pk")
        .values_list("pk", flat=True)[:limit]
    )
