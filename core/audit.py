"""The record of what staff did."""

from typing import Any

from core import clock
from core.models import AuditEntry


def record(
    *,
    actor: str,
    action: str,
    subject: str,
    reason: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> AuditEntry:
    """Append one entry; called by the service that acts, in its transaction."""
    return AuditEntry.objects.create(
        actor=actor,
        action=action,
        subject=subject,
        reason=reason,
        before=before or {},
        after=after or {},
        at=clock.now(),
    )
