"""What arrived at a payment's address and is not what was asked for, read from its view."""

from dataclasses import dataclass
from decimal import Decimal

from billing import offers
from billing.models import PaymentView
from core.money import units_to_amount


@dataclass(frozen=True)
class OtherArrived:
    """What arrived at the address and pays nothing by itself: another asset, or another network."""

    network_name: str
    asset: str
    amount: Decimal
    is_here: bool


def others_of(view: PaymentView) -> tuple[OtherArrived, ...]:
    """By network and asset, as the view keeps them."""
    networks = offers.networks()
    return tuple(
        OtherArrived(
            network_name=networks[row["network"]].name if row["network"] in networks else row["network"],
            asset=row["asset"],
            amount=units_to_amount(int(row["units"]), row["decimals"]),
            is_here=row["network"] == view.payment.network,
        )
        for row in view.others
    )
