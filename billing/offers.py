"""Which crypto payments are offered now: from the networks file and the rows that the worker wrote."""

from dataclasses import dataclass

from django.conf import settings

from billing.models import ChainState
from billing.networks import Asset, Network, load_networks


@dataclass(frozen=True)
class CryptoOffer:
    """A network and asset that a buyer can choose."""

    network: Network
    asset: Asset


def networks() -> dict[str, Network]:
    """All configured networks by slug; none where the crypto rail is not configured."""
    return load_networks(settings.EVM_NETWORKS_FILE) if settings.EVM_NETWORKS_FILE else {}


def crypto_offers() -> list[CryptoOffer]:
    """Priced assets on networks that the worker verified and can read. One query, no RPC."""
    offered = set(ChainState.objects.filter(offered=True).values_list("network", flat=True))
    return [
        CryptoOffer(network=network, asset=asset)
        for network in networks().values()
        if network.slug in offered
        for asset in network.assets
        if asset.price is not None and asset.contract is not None
    ]
