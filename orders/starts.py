"""Which start a buyer may choose (policy table: whole hours, 5 h ahead when quoted, up to 60 days)."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core import clock
from core.errors import Invalid, Refusal


def check_start(
    starts_at: datetime | None, *, lead_seconds: int, field: str = "starts_at"
) -> datetime | None:
    """The start in UTC. Raises Invalid for a time without zone, Refusal(start_not_offered) otherwise."""
    if starts_at is None:
        return None
    if starts_at.tzinfo is None:
        raise Invalid(code="zone_missing", message=_("A start needs a time zone."), field=field)
    start = starts_at.astimezone(UTC)
    moment = clock.now()
    if start.minute or start.second or start.microsecond:
        raise _not_offered(_("A term starts at a whole hour."), field)
    if start <= moment:
        raise _not_offered(_("This start lies in the past."), field)
    if start < moment + timedelta(seconds=lead_seconds):
        raise _not_offered(
            ngettext_lazy(
                "A start must lie at least %(hours)s hour ahead.",
                "A start must lie at least %(hours)s hours ahead.",
                "hours",
            ),
            field,
            hours=lead_seconds // 3600,
        )
    if start > moment + timedelta(days=settings.START_AHEAD_DAYS):
        raise _not_offered(
            ngettext_lazy(
                "A start can lie up to %(days)s day ahead.",
                "A start can lie up to %(days)s days ahead.",
                "days",
            ),
            field,
            days=settings.START_AHEAD_DAYS,
        )
    return start


def _not_offered(message: object, field: str, **params: object) -> Refusal:
    return Refusal(code="start_not_offered", message=message, field=field, params=params)  # type: ignore[arg-type]
