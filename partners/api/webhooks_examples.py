"""Webhook endpoints and deliveries as the OpenAPI document shows them."""

from typing import Any

ENDPOINT_BODY: dict[str, Any] = {
    "url": "https://hooks.example.com/anchorgpu",
    "events": ["order.active", "order.ended"],
    "note": "production",
}

ENDPOINT: dict[str, Any] = {
    "id": "wh_0123456789abcdef01234567",
    "url": "https://hooks.example.com/anchorgpu",
    "events": ["order.active", "order.ended"],
    "note": "production",
    "status": "active",
    "created_at": "2026-12-01T09:00:00Z",
    "failing_since": None,
    "paused_at": None,
}

# The word of the standard's own documentation, which opens nothing.
ENDPOINT_WITH_SECRET: dict[str, Any] = ENDPOINT | {"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}

DELIVERY: dict[str, Any] = {
    "id": "whd_0123456789abcdef01234567",
    "event": "evt_000000000123",
    "type": "order.active",
    "status": "delivered",
    "attempts": 1,
    "created_at": "2026-12-01T09:00:00Z",
    "next_attempt_at": None,
    "delivered_at": "2026-12-01T09:00:01Z",
    "tries": [{"at": "2026-12-01T09:00:01Z", "duration_ms": 84, "status_code": 200, "error": ""}],
}
