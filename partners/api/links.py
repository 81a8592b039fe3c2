"""What the framework does not write into the document: the headers of answers, and which call goes on from which."""

from collections.abc import Mapping
from typing import Any

from partners.api.idempotent import HEADER, REPLAY

_ID = "$response.body#/id"


def _header(description: str, kind: str = "string", *, required: bool = False) -> dict[str, Any]:
    return {"description": description, "schema": {"type": kind}, "required": required}


HEADERS = {
    "RequestId": _header("The id of this request: name it when you write to us.", required=True),
    "RateLimit": _header("What is left of the limit."),
    "RateLimitPolicy": _header("The limit."),
    "RetryAfter": _header("Seconds to wait.", "integer", required=True),
    "MayRetryAfter": _header("Seconds to wait, where that is known.", "integer"),
    "Location": _header("The path of what was made.", required=True),
    "Replay": _header("`true`: the answer of an earlier request with this key."),
}
_OF_ALL = {"X-Request-ID": "RequestId", "RateLimit": "RateLimit", "RateLimit-Policy": "RateLimitPolicy"}
_OF_STATUS: Mapping[str, dict[str, str]] = {
    "201": {"Location": "Location"},
    "409": {"Retry-After": "MayRetryAfter"},
    "429": {"Retry-After": "RetryAfter"},
    "503": {"Retry-After": "MayRetryAfter"},
}
# An answer of these is not stored with an idempotency key.
_NEVER_KEPT = frozenset({"401", "403", "406", "413", "415", "429", "503"})

_ABOUT_AN_ORDER = ("read_order", "claim_payment", "cancel_order", "end_early", "extend_order", "read_access")
_ABOUT_AN_ENDPOINT = (
    "read_webhook_endpoint",
    "change_webhook_endpoint",
    "rotate_webhook_secret",
    "send_test_event",
    "list_webhook_deliveries",
    "redeliver_missed_webhooks",
    "delete_webhook_endpoint",
)
_LISTS = ("list_accelerators", "list_lots", "list_orders", "list_events", "list_webhook_endpoints")


def _to(target: str, **parameters: str) -> dict[str, Any]:
    return {"operationId": target, "parameters": parameters}


LINKS: Mapping[tuple[str, str], dict[str, dict[str, Any]]] = {
    ("make_quote", "201"): {
        "read_quote": _to("read_quote", quote_id=_ID),
        "place_order": {"operationId": "place_order", "requestBody": {"quote": _ID}},
    },
    ("place_order", "201"): {
        **{name: _to(name, order_id=_ID) for name in (*_ABOUT_AN_ORDER, "list_order_events")},
        "read_quote": _to("read_quote", quote_id="$response.body#/quote"),
    },
    ("extend_order", "201"): {name: _to(name, order_id=_ID) for name in _ABOUT_AN_ORDER},
    ("add_webhook_endpoint", "201"): {name: _to(name, endpoint_id=_ID) for name in _ABOUT_AN_ENDPOINT},
    ("send_test_event", "202"): {
        "redeliver_webhook": _to(
            "redeliver_webhook", endpoint_id="$request.path.endpoint_id", delivery_id=_ID
        ),
    },
    **{(name, "200"): {"next_page": _to(name, cursor="$response.body#/next_cursor")} for name in _LISTS},
}


def complete(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A post-processing hook of the document."""
    result["components"]["headers"] = HEADERS
    for calls in result["paths"].values():
        for call in calls.values():
            takes_key = any(parameter["name"] == HEADER for parameter in call.get("parameters", ()))
            for status, answer in call["responses"].items():
                named = _OF_ALL | _OF_STATUS.get(status, {})
                if takes_key and status not in _NEVER_KEPT:
                    named[REPLAY] = "Replay"
                answer["headers"] = {
                    name: {"$ref": f"#/components/headers/{component}"} for name, component in named.items()
                }
                links = LINKS.get((call["operationId"], status))
                if links:
                    answer["links"] = links
    return result
