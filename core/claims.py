"""Leasing a row to one worker: a token and a time limit by the system clock (DESIGN rule 9)."""

import uuid
from datetime import timedelta
from typing import Any

from django.db import models
from django.db.models import Q

from core import clock


def free() -> Q:
    """Rows that nobody holds, or whose holder's time is over."""
    return Q(claim_until__isnull=True) | Q(claim_until__lt=clock.system_now())


def claim(queryset: models.QuerySet[Any], *, seconds: int) -> uuid.UUID | None:
    """Take one row for `seconds`; None if another worker holds it. One UPDATE, no lock is kept.

    The limit assumes that the work between claim and result takes less; a worker that is killed blocks the row no
    longer than that.
    """
    token = uuid.uuid4()
    taken = queryset.filter(free()).update(
        claim_token=token, claim_until=clock.system_now() + timedelta(seconds=seconds)
    )
    return token if taken == 1 else None


def release(queryset: models.QuerySet[Any], *, token: uuid.UUID) -> bool:
    """Give the row back; False if the token is stale and another worker has it now."""
    return queryset.filter(claim_token=token).update(claim_token=None, claim_until=None) == 1
