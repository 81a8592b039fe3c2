"""Whether an order can be paid by bank card: the keys are set and the processor takes such a sum (S25)."""

from decimal import Decimal
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from billing import card_amounts
from core.errors import Invalid, Refusal

# Where the processor shows its checkout page; nothing else is linked.
CHECKOUT_HOST = "checkout.stripe.com"


def cards_are_taken() -> bool:
    """Whether this installation has bank cards at all."""
    return bool(settings.STRIPE_SECRET_KEY and settings.STRIPE_WEBHOOK_SECRET)


def is_demo_card() -> bool:
    """Whether the bank card is the demo's test card, which costs nothing."""
    return bool(settings.DEMO) and settings.STRIPE_TRANSPORT == "demo"


def is_live() -> bool:
    """Whether the key moves true money; what the processor says must agree."""
    return "_live_" in settings.STRIPE_SECRET_KEY


def card_is_offered(amount: Decimal, currency: str) -> bool:
    """Whether this sum can be paid by card."""
    return cards_are_taken() and card_amounts.is_chargeable(amount, currency)


def require_card(amount: Decimal, currency: str) -> None:
    """Refuse before anything is held. Raises Invalid(unknown_rail), Refusal(card_amount)."""
    if not cards_are_taken():
        raise Invalid(code="unknown_rail", message=_("This way of paying is not offered."), field="pay_with")
    if not card_amounts.is_chargeable(amount, currency):
        raise Refusal(
            code="card_amount",
            message=_("This total cannot be charged to a bank card. Please choose another way of paying."),
            field="pay_with",
        )


def webhook_secrets() -> list[str]:
    """One, or several while one is being replaced."""
    return settings.STRIPE_WEBHOOK_SECRET.replace(",", " ").split()


def is_checkout_address(url: str) -> bool:
    """Whether a session's page is where it must be: at the processor, or in the demo on our own site."""
    parts = urlsplit(url)
    if is_demo_card():
        return url.startswith(f"{settings.SITE_URL}/")
    return parts.scheme == "https" and parts.netloc == CHECKOUT_HOST
