"""The last step of a restore: rows of the past are made safe to sell from, all at once or not at all."""

from datetime import datetime
from typing import Any

from django.db import connection, transaction

from anchorgpu import keeping
from anchorgpu.startup import RESTORE_MARKER
from billing.services import after_restore as billing
from core import decisions
from core.models import SweepRun
from core.services import after_restore as core
from fleet.services import after_restore as fleet

KIND = "backup_restored"


def is_unfinished() -> bool:
    """Whether bin/restore is at work on this database."""
    return RESTORE_MARKER in connection.introspection.table_names()


def finish(*, backup_at: datetime, version: str) -> dict[str, Any]:
    """Have each app make its rows fit, ask staff to look, and let programs start; what staff are told.

    One transaction, which takes the marker away: killed in the middle, the database stays closed.
    """
    with transaction.atomic():
        restoration, facts = core.begin(backup_at=backup_at, version=version)
        facts |= {
            "backup_at": backup_at.isoformat(),
            "restored_at": restoration.restored_at.isoformat(),
            "nodes_waiting": fleet.begin(),
            **billing.begin(),
        }
        # The archive that was put back is the last one that is known to be good.
        SweepRun.objects.update_or_create(name=keeping.NAME, defaults={"last_finished_at": backup_at})
        decisions.open_decision(kind=KIND, subject=f"restoration:{restoration.pk}", facts=facts)
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {RESTORE_MARKER}")
    return facts
