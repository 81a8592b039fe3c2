"""The running term as a line: what is used up, when the export window opens, when the export must begin."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from fleet.models import Lease
from fleet.periods import export_window
from shop.pages.order_access import ExportPart

# The line leaves this much free on both sides, so that the marks at its ends are drawn whole.
_EDGE = 1.0


@dataclass(frozen=True)
class TermPart:
    """Places on the line are attributes of the drawing: per cent with a point in every language."""

    starts_at: datetime
    ends_at: datetime
    now: datetime
    window_at: datetime
    last_safe_at: datetime | None

    @property
    def left(self) -> timedelta:
        return self.ends_at - self.now

    @property
    def used(self) -> Decimal:
        """Which part of the term is over, in whole hundredths, rounded down."""
        return Decimal(int(100 * self._share(self.now))) / 100

    @property
    def used_width(self) -> str:
        return _percent(self._share(self.now) * (100 - 2 * _EDGE))

    @property
    def now_x(self) -> str:
        return self._x(self.now)

    @property
    def now_side(self) -> str:
        """On which side of its place the word stands, so that it stays on the picture."""
        share = self._share(self.now)
        return "end" if share > 0.8 else "mid" if share > 0.2 else ""

    @property
    def window_x(self) -> str:
        return self._x(self.window_at)

    @property
    def window_width(self) -> str:
        return _percent((1 - self._share(self.window_at)) * (100 - 2 * _EDGE))

    @property
    def last_safe_x(self) -> str:
        return self._x(self.last_safe_at) if self.last_safe_at is not None else ""

    def _share(self, moment: datetime) -> float:
        return min(max((moment - self.starts_at) / (self.ends_at - self.starts_at), 0.0), 1.0)

    def _x(self, moment: datetime) -> str:
        return _percent(_EDGE + self._share(moment) * (100 - 2 * _EDGE))


def term_part(lease: Lease | None, export: ExportPart | None, moment: datetime) -> TermPart | None:
    """None before the term and after it. No query."""
    if lease is None or lease.ready_at is None or lease.ends_at is None or export is None:
        return None
    return TermPart(
        starts_at=lease.ready_at,
        ends_at=lease.ends_at,
        now=moment,
        window_at=max(lease.ends_at - export_window(lease.hold.term_seconds), lease.ready_at),
        last_safe_at=export.plan.last_safe_at,
    )


def _percent(value: float) -> str:
    return f"{value:.2f}%"
