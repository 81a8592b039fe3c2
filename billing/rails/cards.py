"""Which card processor this installation asks: Stripe over the network, or the demo's own transport."""

from django.conf import settings

from billing.rails.stripe_demo import DemoTransport
from billing.rails.stripe_rail import CardRail


def card_rail() -> CardRail:
    """The client. Worker and commands only; asked where bank cards are configured."""
    transport = DemoTransport() if settings.STRIPE_TRANSPORT == "demo" and settings.DEMO else None
    return CardRail(settings.STRIPE_SECRET_KEY, http_client=transport)
