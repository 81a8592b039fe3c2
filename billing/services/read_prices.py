"""Read what native coins cost, judge it, and keep every reading as a row (C38). Worker only.

A bad value is refused with its reason and never becomes a price; an offer needs two good ones (billing.prices).
"""

from datetime import timedelta
from decimal import Decimal

import structlog
from django.conf import settings

from billing import offers, prices
from billing.models import PriceReading
from billing.networks import Asset, Network
from billing.rails.errors import ChainError
from billing.rails.evm import Chain
from billing.rails.price_sources import Quote, read_page
from core import clock, decisions

log = structlog.get_logger(__name__)

# Clocks of chains run a little ahead of ours.
FUTURE_SLACK = timedelta(minutes=10)
PLACES = Decimal("1E-12")  # of the stored price
TOO_LARGE = Decimal("1E+17")


def read_prices() -> None:
    """One reading of each source of each native coin that has two. No transaction around the I/O; repeatable."""
    for network in offers.networks().values():
        for asset in network.assets:
            if prices.sources(network, asset):
                _read(network, asset)


def _read(network: Network, asset: Asset) -> None:
    for position, source in enumerate(prices.sources(network, asset)):
        quote, problem = None, ""
        try:
            quote = _quote(network, asset, second=position == 1)
            problem = _problem(network, asset, source, quote)
        except ChainError as error:
            problem = str(error)
        if problem:
            log.warning("price_refused", network=network.slug, source=source, reason=problem)
        _keep(network, asset, source, quote, problem)
    _tell_staff(network, asset)


def _quote(network: Network, asset: Asset, *, second: bool) -> Quote:
    if not second:
        return Chain(network).price(str(asset.feed))
    if asset.second is None:
        raise ValueError("This coin has no second source.")
    if asset.second.url is not None:
        return read_page(asset.second.url, asset.second.pointer)
    return Chain(network).price(str(asset.second.feed))


def _problem(network: Network, asset: Asset, source: str, quote: Quote) -> str:
    """Why a price cannot be used; empty where it can."""
    if not 0 < quote.price < TOO_LARGE or quote.price < PLACES:
        return f"{quote.price:.6g} is no price"
    if quote.at is not None:
        age = clock.now() - quote.at
        if age > timedelta(seconds=settings.PRICE_QUOTE_MAX_AGE_SECONDS):
            return f"it is of {quote.at.isoformat()}"
        if age < -FUTURE_SLACK:
            return f"it is of the future, {quote.at.isoformat()}"
    last = prices.last_good(network=network.slug, symbol=asset.symbol, source=source)
    if last is not None and last.price:
        jump = abs(quote.price - last.price) * 100
        if jump > last.price * settings.PRICE_JUMP_PERCENT:
            return f"{quote.price:.6g} is too far from {last.price:.6g}"
    return ""


def _keep(network: Network, asset: Asset, source: str, quote: Quote | None, problem: str) -> None:
    """A row where something changed, and often enough that the newest is never too old while its source lives."""
    price = None if problem or quote is None else quote.price.quantize(PLACES)
    quoted_at = quote.at if quote is not None and not problem else None
    last = (
        PriceReading.objects.filter(network=network.slug, symbol=asset.symbol, source=source)
        .order_by("-id")
        .first()
    )
    half = timedelta(seconds=settings.PRICE_READ_MAX_AGE_SECONDS / 2)
    if (
        last is not None
        and (last.price, last.problem, last.quoted_at) == (price, problem[:200], quoted_at)
        and clock.system_now() - last.read_at < half
    ):
        return
    PriceReading.objects.create(
        network=network.slug,
        symbol=asset.symbol,
        source=source,
        price=price,
        problem=problem[:200],
        quoted_at=quoted_at,
        read_at=clock.system_now(),
    )


def _tell_staff(network: Network, asset: Asset) -> None:
    subject = f"price:{network.slug}:{asset.symbol}"
    if prices.usable_price(network=network, asset=asset) is not None:
        decisions.close_open(kind="price_unusable", subject=subject, reason="two sources agree again")
        return
    newest = [
        PriceReading.objects.filter(network=network.slug, symbol=asset.symbol, source=source)
        .order_by("-id")
        .first()
        for source in prices.sources(network, asset)
    ]
    facts = {row.source: row.problem or f"{row.price:f}" for row in newest if row is not None}
    decisions.open_decision(kind="price_unusable", subject=subject, facts=facts)
