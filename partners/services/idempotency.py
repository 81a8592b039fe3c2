"""One idempotency key, one effect, one answer: for a partner, an endpoint and a body, for a day.

A key is claimed in a transaction of its own, so that everybody sees that it is being worked on. The effect and its
answer are then written together: either both are there or none is, whenever the process is killed. System clock.
"""

import hashlib
import json
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils.translation import gettext_lazy as _

from core import clock
from core.errors import Conflict, Refusal
from partners.models import IdempotentRequest

# Longer than any request takes: the web server ends a worker after 30 s.
LOCK = timedelta(seconds=60)
LIFE = timedelta(hours=24)
# How soon the answer of the first request is worth asking for again.
RETRY_AFTER_SECONDS = 1
SWEEP_ROWS = 10_000

_TABLE = IdempotentRequest._meta.db_table
# Taken over: a request that was killed, with the same body only; and a key that is a day old, whatever it was for.
_CLAIM = f"""
    INSERT INTO {_TABLE} AS r
        (partner_id, key, endpoint, body_hash, made_at, token, locked_until, headers, body)
    VALUES (%(partner)s, %(key)s, %(endpoint)s, %(body_hash)s, %(now)s, %(token)s, %(until)s, '{{}}', '')
    ON CONFLICT (partner_id, key) DO UPDATE SET
        made_at = CASE WHEN r.made_at <= %(oldest)s THEN excluded.made_at ELSE r.made_at END,
        endpoint = excluded.endpoint, body_hash = excluded.body_hash, token = excluded.token,
        locked_until = excluded.locked_until, status_code = NULL, headers = '{{}}', body = ''
    WHERE (r.status_code IS NOT NULL OR r.locked_until <= %(now)s)
      AND (r.made_at <= %(oldest)s OR (r.status_code IS NULL AND r.endpoint = excluded.endpoint
                                       AND r.body_hash = excluded.body_hash))
    RETURNING r.id
"""  # noqa: S608  # nosec B608 # our own names; values are parameters


@dataclass(frozen=True)
class Asked:
    """What a key is bound to. `endpoint` is method and path."""

    partner_id: int
    key: str
    endpoint: str
    body_hash: str


@dataclass(frozen=True)
class Claim:
    """This request works on the key: `token` says so when it writes its answer."""

    row_id: int
    token: uuid.UUID


@dataclass(frozen=True)
class StoredAnswer:
    """What the first request was answered, byte for byte."""

    status_code: int
    headers: dict[str, str]
    body: str


class InProgress(Conflict):
    """The first request with this key has no answer yet."""

    def __init__(self) -> None:
        super().__init__(
            code="idempotency_in_progress",
            message=_("A request with this Idempotency-Key is being worked on. Ask again in a moment."),
        )
        self.retry_after_seconds = RETRY_AFTER_SECONDS


def hash_of(body: Any) -> str:
    """The same for the same content, whatever the order of names and the blanks between them."""
    text = json.dumps(
        body, sort_keys=True, separators=(",", ":"), default=lambda value: ["number", str(value)]
    )
    return hashlib.sha256(text.encode()).hexdigest()


def claim(asked: Asked) -> Claim | StoredAnswer:
    """Take the key, or say what it was answered. Not inside a transaction: everybody must see it at once.

    Locks the row of the key for a statement. Raises InProgress, Refusal(idempotency_mismatch) for another endpoint or
    body. A request that was killed keeps its key for LOCK.
    """
    moment, token = clock.system_now(), uuid.uuid4()
    with connection.cursor() as cursor:
        cursor.execute(
            _CLAIM,
            {
                "partner": asked.partner_id,
                "key": asked.key,
                "endpoint": asked.endpoint,
                "body_hash": asked.body_hash,
                "now": moment,
                "oldest": moment - LIFE,
                "token": token,
                "until": moment + LOCK,
            },
        )
        claimed = cursor.fetchone()
    return Claim(row_id=claimed[0], token=token) if claimed else _answered(asked)


def _answered(asked: Asked) -> StoredAnswer:
    row = IdempotentRequest.objects.filter(partner_id=asked.partner_id, key=asked.key).first()
    if row is None:  # its request ended without an answer to keep, between the two looks
        raise InProgress
    if (row.endpoint, row.body_hash) != (asked.endpoint, asked.body_hash):
        raise Refusal(
            code="idempotency_mismatch",
            message=_("This Idempotency-Key was used for another request. Take a new key for each request."),
        )
    if row.status_code is None:
        raise InProgress
    return StoredAnswer(status_code=row.status_code, headers=row.headers, body=row.body)


def keep(claimed: Claim, answer: StoredAnswer) -> None:
    """Store the answer, in the transaction of the effect that it tells of.

    Raises InProgress where another request has taken the key over meanwhile: the effect must go back.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("An answer is stored in the transaction of its effect.")
    found = IdempotentRequest.objects.filter(pk=claimed.row_id, token=claimed.token).update(
        status_code=answer.status_code, headers=answer.headers, body=answer.body
    )
    if not found:
        raise InProgress


def let_go(claimed: Claim) -> None:
    """Nothing has happened and the answer is not to be kept: the key is as if never used. Safe to repeat."""
    IdempotentRequest.objects.filter(pk=claimed.row_id, token=claimed.token, status_code=None).delete()


def forget_old() -> int:
    """Remove answers that are older than LIFE; how many. No lock, safe to repeat."""
    old = IdempotentRequest.objects.filter(made_at__lte=clock.system_now() - LIFE)
    found = list(old.order_by("made_at").values_list("pk", flat=True)[:SWEEP_ROWS])
    removed, _by_model = IdempotentRequest.objects.filter(
        pk__in=found, made_at__lte=clock.system_now() - LIFE
    ).delete()
    return removed
