"""Secrets of webhooks and the headers that every delivery carries (Standard Webhooks)."""

import base64
import secrets
from datetime import datetime, timedelta

from standardwebhooks import Webhook

from partners.models import WebhookEndpoint

# 24 to 64 by the standard; as long as the digest.
_SECRET_BYTES = 32
# After a rotation both secrets sign for so long: time to put the new one in place everywhere.
OVERLAP = timedelta(hours=24)


def new_secret() -> str:
    """Random, in the form in which verifying libraries take it."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")


def signed_headers(
    endpoint: WebhookEndpoint, *, message_id: str, body: str, moment: datetime
) -> dict[str, str]:
    """`moment` is of the system's clock: receivers refuse what is older than minutes."""
    keys = [endpoint.secret]
    until = endpoint.former_secret_until
    if endpoint.former_secret and until is not None and moment < until:
        keys.append(endpoint.former_secret)
    signatures = [Webhook(key).sign(msg_id=message_id, timestamp=moment, data=body) for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
