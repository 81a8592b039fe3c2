"""The demo's transport below Stripe's own client: the calls that we make, answered from the demo's record.

It refuses what Stripe refuses (docs of each call), so that a mistake shows here and not at the first true buyer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import stripe
from django.conf import settings
from django.db import IntegrityError, transaction

from billing import card_amounts
from billing.models import DemoCardRecord
from billing.rails import demo_cards
from core import clock

Kind = DemoCardRecord.Kind
Answer = tuple[dict[str, Any], int]

_SHORTEST, _LONGEST = timedelta(minutes=30), timedelta(hours=24)
_LIMITS = {"client_reference_id": 200, "customer_email": 800, "success_url": 5000, "cancel_url": 5000}
_NAME_LIMIT = 250
_LISTS = {
    Kind.SESSION: "/v1/checkout/sessions",
    Kind.REFUND: "/v1/refunds",
    Kind.DISPUTE: "/v1/disputes",
}
_OBJECTS = {Kind.SESSION: "checkout.session", Kind.REFUND: "refund", Kind.DISPUTE: "dispute"}


class _Refused(Exception):
    def __init__(self, message: str, *, status: int = 400, code: str = "", kind: str = "") -> None:
        self.status = status
        self.body = {
            "error": {"type": kind or "invalid_request_error", "code": code or None, "message": message}
        }
        super().__init__(message)


class DemoTransport(stripe.HTTPClient):
    """Like a call over the network it must stay outside a transaction; `durable` makes one inside an error."""

    name = "demo"

    def request(
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: Any = None, **_: Any
    ) -> tuple[str, int, Mapping[str, str]]:
        parts = urlsplit(url)
        sent = parse_qsl(parts.query if method == "get" else _text(post_data), keep_blank_values=True)
        key = (headers or {}).get("Idempotency-Key", "") if method == "post" else ""
        try:
            with transaction.atomic(durable=True):
                body, status = (
                    _once(key, parts.path, sent) if key else (_answer(method, parts.path, sent), 200)
                )
        except _Refused as refused:
            body, status = refused.body, refused.status
        return json.dumps(body), status, {"Request-Id": demo_cards.new_id("req")}

    def close(self) -> None:
        """Nothing is open."""


def _text(post_data: Any) -> str:
    return post_data.decode() if isinstance(post_data, bytes) else post_data or ""


def _once(key: str, path: str, sent: list[tuple[str, str]]) -> Answer:
    """The first answer for a key, whatever becomes of it later; another request under the same key is refused."""
    print_of = hashlib.sha256(repr((path, sorted(sent))).encode()).hexdigest()
    reference = f"key:{key}"
    known = DemoCardRecord.objects.filter(kind=Kind.KEY, reference=reference).first()
    if known is None:
        try:
            with transaction.atomic():
                row = DemoCardRecord.objects.create(
                    kind=Kind.KEY, reference=reference, body={"print": print_of}, made_at=clock.system_now()
                )
                body = _answer("post", path, sent)
                row.body |= {"answer": body}
                row.save()
                return body, 200
        except IntegrityError as error:
            raise _Refused("This key is being worked on.", status=409, kind="idempotency_error") from error
    if known.body["print"] != print_of:
        raise _Refused("This key was used with other parameters.", kind="idempotency_error")
    return known.body["answer"], 200


def _answer(method: str, path: str, sent: list[tuple[str, str]]) -> dict[str, Any]:
    values = dict(sent)
    parts = path.removeprefix("/v1/").removeprefix("checkout/").split("/")
    act = _CALLS.get((method, parts[0], len(parts))) if path.startswith("/v1/") else None
    if act is None or parts[2:] not in ([], ["expire"]):
        raise _Refused(f"Unrecognized request URL ({method} {path}).", status=404)
    return act(values, *parts[1:2])


def _found(kind: str, reference: str) -> dict[str, Any]:
    row = demo_cards.find(kind, reference)
    if row is None:
        raise _Refused(f"No such {_OBJECTS[Kind(kind)]}: {reference}", status=404, code="resource_missing")
    return demo_cards.public(row.body)


def _session(values: dict[str, str], session_id: str) -> dict[str, Any]:
    body = _found(Kind.SESSION, session_id)
    if body["payment_intent"] and values.get("expand[0]") == "payment_intent":
        row = DemoCardRecord.objects.get(kind=Kind.SESSION, reference=session_id)
        intent = {
            "id": body["payment_intent"],
            "object": "payment_intent",
            "status": row.body["intent_status"],
        }
        return body | {"payment_intent": intent}
    return body


def _list(kind: str, values: dict[str, str]) -> dict[str, Any]:
    rows = DemoCardRecord.objects.filter(kind=kind).order_by("-pk")
    if "payment_intent" in values:
        rows = rows.filter(body__payment_intent=values["payment_intent"])
    if "created[gte]" in values:
        rows = rows.filter(body__created__gte=int(values["created[gte]"]))
    if "starting_after" in values:
        rows = rows.filter(pk__lt=DemoCardRecord.objects.get(reference=values["starting_after"]).pk)
    limit = int(values.get("limit", "10"))
    if not 1 <= limit <= 100:
        raise _Refused("Invalid limit: from 1 to 100.")
    page = list(rows[: limit + 1])
    data = [demo_cards.public(row.body) for row in page[:limit]]
    return {"object": "list", "url": _LISTS[Kind(kind)], "has_more": len(page) > limit, "data": data}


def _open(values: dict[str, str]) -> dict[str, Any]:
    moment = clock.system_now()
    currency = values["line_items[0][price_data][currency]"]
    amount = int(values["line_items[0][price_data][unit_amount]"])
    ends = int(values["expires_at"])
    if not _SHORTEST.total_seconds() <= ends - int(moment.timestamp()) <= _LONGEST.total_seconds():
        raise _Refused("The `expires_at` timestamp must be 30 minutes to 24 hours from Session creation.")
    _check_amount(amount, currency)
    _check_texts(values)
    session_id = demo_cards.new_id("cs_test")
    body = {
        "id": session_id,
        "object": "checkout.session",
        "url": f"{settings.SITE_URL}/{_language(values)}/demo/card/{session_id}/",
        "status": "open",
        "payment_status": "unpaid",
        "amount_total": amount,
        "currency": currency,
        "client_reference_id": values["client_reference_id"],
        "payment_intent": None,
        "livemode": False,
        "metadata": _metadata(values),
        "created": int(moment.timestamp()),
        "expires_at": ends,
        "success_url": values["success_url"],
        "cancel_url": values["cancel_url"],
        "name": values["line_items[0][price_data][product_data][name]"],
    }
    demo_cards.add(Kind.SESSION, body)
    return demo_cards.public(body)


def _check_amount(amount: int, currency: str) -> None:
    least = card_amounts.minimum(currency.upper())
    if least is None:
        raise _Refused(f"Invalid currency: {currency}.")
    if amount < card_amounts.to_minor(least, currency.upper()):
        raise _Refused("The total is below the minimum charge.", code="amount_too_small")
    if len(str(amount)) > 8:
        raise _Refused("Amounts have at most 8 digits.", code="amount_too_large")


def _check_texts(values: dict[str, str]) -> None:
    long = [name for name, limit in _LIMITS.items() if len(values.get(name, "")) > limit]
    long += [name for name, value in values.items() if "[metadata]" in name and len(value) > 500]
    name = values["line_items[0][price_data][product_data][name]"]
    if long or not name or len(name.encode("utf-16-le")) // 2 > _NAME_LIMIT:
        raise _Refused(f"Invalid string: too long or empty ({', '.join(long) or 'name'}).")
    if values.get("mode") != "payment" or values.get("allowed_payment_method_types[0]") != "card":
        raise _Refused("Only card payments are known here.")


def _expire(values: dict[str, str], session_id: str) -> dict[str, Any]:
    _found(Kind.SESSION, session_id)
    row = demo_cards.expire(session_id)
    if row is None:
        raise _Refused('Only Checkout Sessions with a status in ["open"] can be expired.')
    return demo_cards.public(row.body)


def _refund(values: dict[str, str]) -> dict[str, Any]:
    intent, amount = values["payment_intent"], int(values["amount"])
    paid = [row.body for row in demo_cards.by_intent(Kind.SESSION, intent)]
    if not paid or paid[0]["payment_status"] != "paid":
        raise _Refused(f"No such payment_intent: {intent}", status=404, code="resource_missing")
    back = [row.body["amount"] for row in demo_cards.by_intent(Kind.REFUND, intent) if not _is_dead(row)]
    left = paid[0]["amount_total"] - sum(back)
    if left <= 0:
        raise _Refused("Charge has already been refunded.", code="charge_already_refunded")
    if not 0 < amount <= left:
        raise _Refused(f"Refund amount ({amount}) is greater than unrefunded amount ({left}).")
    body = {
        "id": demo_cards.new_id("re"),
        "object": "refund",
        "payment_intent": intent,
        "status": "succeeded",
        "amount": amount,
        "currency": paid[0]["currency"],
        "metadata": _metadata(values),
        "created": int(clock.system_now().timestamp()),
    }
    made: dict[str, Any] = demo_cards.add(Kind.REFUND, body).body
    demo_cards.tell("refund.created", made)
    return made


def _is_dead(row: DemoCardRecord) -> bool:
    return row.body["status"] in ("failed", "canceled")


def _metadata(values: dict[str, str]) -> dict[str, str]:
    start = "metadata["
    return {name[len(start) : -1]: value for name, value in values.items() if name.startswith(start)}


def _language(values: dict[str, str]) -> str:
    wanted = values.get("locale", "")
    return wanted if wanted in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


# Method, collection, parts of the path.
_CALLS: dict[tuple[str, str, int], Callable[..., dict[str, Any]]] = {
    ("post", "sessions", 1): _open,
    ("post", "sessions", 3): _expire,
    ("post", "refunds", 1): _refund,
    ("get", "sessions", 1): lambda values: _list(Kind.SESSION, values),
    ("get", "sessions", 2): _session,
    ("get", "refunds", 1): lambda values: _list(Kind.REFUND, values),
    ("get", "refunds", 2): lambda values, refund_id: _found(Kind.REFUND, refund_id),
    ("get", "disputes", 1): lambda values: _list(Kind.DISPUTE, values),
}
