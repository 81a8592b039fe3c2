"""The last safe start of an export: end - (bytes / rate) - time to verify. Pure arithmetic on what is known."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from fleet.models import Lease
from fleet.periods import export_verify_margin

# A published uplink is the line's whole: protocols, other tenants and the far end leave about half of it to one copy.
UPLINK_SHARE = Fraction(1, 2)
_BYTES_PER_GBIT = 10**9 // 8


class RateSource(StrEnum):
    """Where the rate comes from that is counted with."""

    DECLARED = "declared"
    UPLINK = "uplink"


class Missing(StrEnum):
    """What has to be known first."""

    SIZE = "size"
    RATE = "rate"
    END = "end"


@dataclass(frozen=True)
class ExportPlan:
    """How long the export takes and when it must begin; `last_safe_at` is None where `missing` says why."""

    size_bytes: int | None
    rate_bytes_s: int | None
    rate_source: RateSource | None
    takes: timedelta | None
    margin: timedelta
    ends_at: datetime | None
    last_safe_at: datetime | None
    missing: Missing | None

    @property
    def size_gb(self) -> Decimal | None:
        """In GB of 10^9 bytes, exact."""
        return None if self.size_bytes is None else Decimal(self.size_bytes).scaleb(-9).normalize()

    @property
    def rate_mb_s(self) -> Decimal | None:
        """In MB of 10^6 bytes a second, exact."""
        return None if self.rate_bytes_s is None else Decimal(self.rate_bytes_s).scaleb(-6).normalize()

    @property
    def declared_rate_mb_s(self) -> Decimal | None:
        """The buyer's own figure, if he gave one."""
        return self.rate_mb_s if self.rate_source == RateSource.DECLARED else None

    def is_past(self, moment: datetime) -> bool:
        """Whether the export no longer fits with certainty."""
        return self.last_safe_at is not None and moment > self.last_safe_at


def export_plan(lease: Lease, *, uplink_gbit_s: int | None) -> ExportPlan:
    """What is known of the export of a lease. `uplink_gbit_s`: as published for its lot, None = unknown.

    The rate is the buyer's own figure, else half of the published uplink. A started second counts as a whole one.
    """
    rate, source = lease.export_rate_bytes_s, RateSource.DECLARED
    if rate is None and uplink_gbit_s:
        rate, source = int(uplink_gbit_s * _BYTES_PER_GBIT * UPLINK_SHARE), RateSource.UPLINK
    size, margin = lease.export_bytes, export_verify_margin()
    takes = None if size is None or rate is None else export_time(size_bytes=size, rate_bytes_s=rate)
    last_safe = None if takes is None or lease.ends_at is None else lease.ends_at - takes - margin
    return ExportPlan(
        size_bytes=size,
        rate_bytes_s=rate,
        rate_source=None if rate is None else source,
        takes=takes,
        margin=margin,
        ends_at=lease.ends_at,
        last_safe_at=last_safe,
        missing=_missing(size, rate, lease.ends_at),
    )


def export_time(*, size_bytes: int, rate_bytes_s: int) -> timedelta:
    """Whole seconds, rounded up. Both figures above zero."""
    return timedelta(seconds=-(-size_bytes // rate_bytes_s))


def _missing(size: int | None, rate: int | None, ends_at: datetime | None) -> Missing | None:
    if size is None:
        return Missing.SIZE
    if rate is None:
        return Missing.RATE
    return Missing.END if ends_at is None else None
