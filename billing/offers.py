"""Which crypto payments are offered now: from the networks file and the rows that the worker wrote."""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Context, Decimal

from django.conf import settings

from billing import prices
from billing.models import ChainState
from billing.networks import Asset, Network, load_networks
from core.money import amount_to_units

# What a wallet shows and a person types: a native coin is asked for with so many significant digits (C08).
SHOWN_DIGITS = 8


@dataclass(frozen=True)
class CryptoOffer:
    """A network and asset that a buyer can choose, at a rate in the selling currency for one coin."""

    network: Network
    asset: Asset
    rate: Decimal
    rate_source: str
    rate_at: datetime | None

    def due_units(self, total: Decimal) -> int:
        """Base units that pay `total`, rounded up to what is shown: the shown sum is the asked sum."""
        amount = Context(prec=60).divide(total, self.rate)
        if self.asset.contract is None:
            amount = Context(prec=SHOWN_DIGITS, rounding=ROUND_CEILING).plus(amount)
        return amount_to_units(amount, self.asset.decimals)


def networks() -> dict[str, Network]:
    """All configured networks by slug; none where the crypto rail is not configured."""
    return load_networks(settings.EVM_NETWORKS_FILE) if settings.EVM_NETWORKS_FILE else {}


def crypto_offers() -> list[CryptoOffer]:
    """Priced assets on networks that the worker verified and can read; a native coin only with a price that two
    sources agree on. No RPC."""
    offered = set(ChainState.objects.filter(offered=True).values_list("network", flat=True))
    pairs = [
        (network, asset)
        for network in networks().values()
        if network.slug in offered
        for asset in network.assets
    ]
    names = {name for pair in pairs for name in prices.sources(*pair)}
    readings = prices.fresh_readings(names)
    found = [_offer(network, asset, readings) for network, asset in pairs]
    return [offer for offer in found if offer is not None]


def chosen_offer(*, network: str, asset: str) -> CryptoOffer | None:
    """What a buyer chose, at today's rate. Whether the network is offered now is asked where its address is taken."""
    found = networks().get(network)
    if found is None:
        return None
    one = next((one for one in found.assets if one.symbol == asset), None)
    return None if one is None else _offer(found, one, prices.fresh_readings(prices.sources(found, one)))


def is_offered(network: str) -> bool:
    """Whether the worker has verified the network and can read it. No RPC."""
    return ChainState.objects.filter(network=network, offered=True).exists()


def _offer(network: Network, asset: Asset, readings: prices.Readings) -> CryptoOffer | None:
    if not asset.offered:
        return None
    if asset.price is not None:
        return CryptoOffer(network, asset, asset.price, "fixed", None)
    price = prices.price_from(readings, network=network, asset=asset)
    return None if price is None else CryptoOffer(network, asset, price.rate, price.source, price.at)
