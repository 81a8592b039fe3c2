"""What a native coin costs, from the rows that the worker wrote: usable only where two sources agree (C38)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings

from billing.models import PriceReading
from billing.networks import Asset, Network
from core import clock

QUOTED_IN = "USD"  # of feeds and second sources alike; another selling currency has no rate here


@dataclass(frozen=True)
class Price:
    """Currency for one coin, who said so, and when it was true by the older of the two."""

    rate: Decimal
    source: str
    at: datetime


def sources(network: Network, asset: Asset) -> tuple[str, ...]:
    """The names under which readings of this coin are kept; empty where it has no price sources."""
    if asset.contract is not None or asset.feed is None or asset.second is None:
        return ()
    return (f"{network.slug}:{asset.feed}", asset.second.name(network.slug))


def usable_price(*, network: Network, asset: Asset) -> Price | None:
    """The lower of two fresh prices that agree within PRICE_AGREE_PERCENT; None where there is no such price."""
    names = sources(network, asset)
    return price_from(fresh_readings(names), network=network, asset=asset)


# (network, symbol, source) -> the newest reading of the last minutes
Readings = dict[tuple[str, str, str], PriceReading]


def fresh_readings(names: Iterable[str]) -> Readings:
    """The newest readings of these sources that are not too old to be used. One query, none without sources."""
    wanted = list(names)
    if not wanted:
        return {}
    since = clock.system_now() - timedelta(seconds=settings.PRICE_READ_MAX_AGE_SECONDS)
    key = ("network", "symbol", "source")
    rows = PriceReading.objects.filter(source__in=wanted, read_at__gte=since)
    return {(row.network, row.symbol, row.source): row for row in rows.order_by(*key, "-id").distinct(*key)}


def price_from(readings: Readings, *, network: Network, asset: Asset) -> Price | None:
    """As usable_price, from readings of its sources. No query."""
    names = sources(network, asset)
    if not names or settings.CURRENCY != QUOTED_IN:
        return None
    first, second = (_usable(readings.get((network.slug, asset.symbol, name))) for name in names)
    if first is None or second is None:
        return None
    low, high = sorted((first, second), key=lambda reading: reading.price or Decimal(0))
    if not low.price or not high.price or not agree(low.price, high.price):
        return None
    times = [row.quoted_at or row.read_at for row in (first, second)]
    return Price(rate=low.price, source=", ".join(names)[:240], at=min(times))


def agree(one: Decimal, other: Decimal) -> bool:
    """Whether two positive prices lie within the policy's percentage of the lower."""
    low, high = sorted((one, other))
    return (high - low) * 100 <= low * settings.PRICE_AGREE_PERCENT


def last_good(*, network: str, symbol: str, source: str) -> PriceReading | None:
    """The newest value of a source that could be used, of the last day: an older one measures nothing any more."""
    since = clock.system_now() - timedelta(days=1)
    return (
        PriceReading.objects.filter(
            network=network, symbol=symbol, source=source, problem="", read_at__gte=since
        )
        .order_by("-id")
        .first()
    )


def _usable(row: PriceReading | None) -> PriceReading | None:
    return None if row is None or row.problem or row.price is None or row.price <= 0 else row
