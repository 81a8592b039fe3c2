"""How much a partner may keep unpaid: by the numbers on his own row, not by network."""

from fleet.limits import HoldLimits
from partners.models import Partner


def limits_of(partner: Partner) -> HoldLimits:
    """No prefix rule: his customers and servers may all come from one network."""
    return HoldLimits(
        orders_per_owner=partner.hold_orders, cards_per_owner=partner.hold_cards, orders_per_prefix=None
    )
