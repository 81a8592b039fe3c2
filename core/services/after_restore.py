"""A database was put back from a backup: numbers and mails that may have gone out after it go out no second time."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection

from core import clock, decisions, restored
from core.models import OutgoingMail, Restoration, SweepRun

# No table grows faster than this for long, so whatever had a number after the backup keeps it for itself; also where
# the same backup is put back a second time, since the time that has passed is longer then. Tables of Django's own with
# small keys (staff, permissions) are written by hand.
ROWS_PER_SECOND, SMALL_ROWS_PER_SECOND, ROWS_AT_LEAST = 100, 1, 10_000
HELD = "It was waiting when the backup was made and may have been sent after it."
MAIL_KIND = "mails_held"

_SEQUENCES = """
    SELECT setval(format('%%I.%%I', schemaname, sequencename)::regclass, least(max_value, coalesce(last_value, 0)
        + %(least)s + CASE WHEN data_type = 'bigint'::regtype THEN %(many)s ELSE %(few)s END))
    FROM pg_sequences WHERE schemaname = ANY(current_schemas(false))
"""


def begin(*, backup_at: datetime, version: str) -> tuple[Restoration, dict[str, Any]]:
    """Note the restoration and make the core's rows fit for it; what staff should know of it. Once, in a transaction.

    Everything that carries a number outside (leases at the provider, refunds at the card processor, events at
    partners, mails) is told by it whether it knows the thing. So no number of before may name another thing now.
    """
    _leave_numbers_out(clock.system_now() - backup_at)
    restoration = restored.begin(backup_at=backup_at, version=version)
    # No sweep has run on this database: whoever waits for one (holds, /readyz) waits for its first round.
    SweepRun.objects.update(last_started_at=None, last_finished_at=None, last_product_at=None, last_error="")
    return restoration, {"mails_held": _hold_mails_back(restoration)}


def _leave_numbers_out(age: timedelta) -> None:
    seconds = max(0, int(age.total_seconds()))
    values = {
        "least": ROWS_AT_LEAST,
        "many": ROWS_PER_SECOND * seconds,
        "few": SMALL_ROWS_PER_SECOND * seconds,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SEQUENCES, values)


def _hold_mails_back(restoration: Restoration) -> int:
    """Those that waited at the time of the backup: almost always sent seconds later. Without a transport none was."""
    if not settings.MAIL_IS_SENT:
        return 0
    held = OutgoingMail.objects.filter(status=OutgoingMail.Status.QUEUED).update(
        status=OutgoingMail.Status.FAILED, last_error=HELD, claim_token=None, claim_until=None
    )
    if held:
        decisions.open_decision(
            kind=MAIL_KIND, subject=f"restoration:{restoration.pk}", facts={"mails": held, "why": HELD}
        )
    return held
