"""Whether an event comes from Stripe: its signature over the bytes as they came. No network."""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

import stripe

# Stripe's own advice: an event that was signed longer ago is a replay. Its retries are signed anew.
TOLERANCE_SECONDS = 300


class BadEvent(Exception):
    """Not signed by the processor, or not an event."""


def verified_event(payload: bytes, signature: str, secrets: Sequence[str]) -> dict[str, Any]:
    """The event. Raises BadEvent. Any of the secrets will do, so that one can be replaced without a gap."""
    if not any(_is_signed(payload, signature, secret) for secret in secrets):
        raise BadEvent("the signature does not match")
    try:
        event = json.loads(payload, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadEvent("this is not JSON") from error
    if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
        raise BadEvent("this is no event")
    for name in ("id", "type"):
        if not isinstance(event.get(name), str) or not event[name]:
            raise BadEvent(f"the event has no {name}")
    return event


def sign(payload: str, secret: str, *, timestamp: int) -> str:
    """The header that goes with an event; the demo and tests sign with it."""
    return str(stripe.WebhookSignature.generate_signature_header(payload, secret, timestamp))


def _is_signed(payload: bytes, signature: str, secret: str) -> bool:
    if not signature.isascii():  # the library compares texts that must be
        return False
    try:
        stripe.WebhookSignature.verify_header(payload, signature, secret, TOLERANCE_SECONDS)
    except (stripe.SignatureVerificationError, UnicodeError):
        return False
    return True


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
