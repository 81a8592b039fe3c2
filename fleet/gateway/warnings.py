"""What an open session is told about its end: twice before it, once when it moves, and why access was cut."""

from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fleet.gateway import screens
from fleet.gateway.logins import Cut

# DESIGN, policy table. The first leaves time for a last checkpoint, the second for a copy of small files.
WARNING_MINUTES = (40, 10)


class Warned:
    """Which warnings one session has heard, for each end that its lease had meanwhile."""

    def __init__(self) -> None:
        self._heard: set[tuple[datetime, int]] = set()

    def is_due(self, ends_at: datetime, moment: datetime) -> bool:
        """Whether to warn now. A session that is behind two thresholds hears one warning, not two."""
        due = _reached(ends_at, moment) - self._heard
        self._heard |= due
        return bool(due)

    def skip(self, ends_at: datetime | None, moment: datetime) -> None:
        """The greeting has said what is left."""
        if ends_at is not None:
            self._heard |= _reached(ends_at, moment)


def _reached(ends_at: datetime, moment: datetime) -> set[tuple[datetime, int]]:
    left = ends_at - moment
    return {(ends_at, minutes) for minutes in WARNING_MINUTES if left <= timedelta(minutes=minutes)}


def ends_soon(ends_at: datetime, moment: datetime) -> str:
    """The true time that is left, whenever it is said; a started minute counts."""
    minutes = max(1, -(-int((ends_at - moment).total_seconds()) // 60))
    return ngettext(
        "This lease ends in %(minutes)s minute, on %(end)s. Save what you need.",
        "This lease ends in %(minutes)s minutes, on %(end)s. Save what you need.",
        minutes,
    ) % {"minutes": minutes, "end": screens.utc(ends_at)}


def new_end(ends_at: datetime) -> str:
    """After an extension, or where staff moved the end."""
    return _("The end of this lease has moved: it is now %(end)s.") % {"end": screens.utc(ends_at)}


def why_cut(cut: Cut) -> str:
    """The last words of a session."""
    return {
        Cut.KEY_REMOVED: _("this key was removed from the lease, session closed"),
        Cut.ENDED: _("lease ended, session closed"),
        Cut.SUSPENDED: _("access is paused, session closed"),
        Cut.MOVING: _("the lease is moving to other cards, session closed"),
        Cut.CLOSED: _("access closed, session closed"),
    }[cut]
