"""Money may come for ever to every address ever issued: an asset that left the networks file must be noticed."""

from billing import offers
from billing.models import PaymentRequest
from core import decisions


def report_missing() -> None:
    """Open a decision for each (network, asset) that payments name and the file does not; close it when it is back."""
    known = {
        (network.slug, asset.contract or "")
        for network in offers.networks().values()
        for asset in network.assets
    }
    used = (
        PaymentRequest.objects.filter(address__isnull=False)
        .order_by()
        .values_list("network", "asset_contract")
        .distinct()
    )
    for network, contract in used:
        subject = f"network:{network}:{contract}"
        if (network, contract) in known:
            decisions.close_open(kind="network_missing", subject=subject, reason="it is in the file again")
        else:
            decisions.open_decision(
                kind="network_missing", subject=subject, facts={"network": network, "contract": contract}
            )
