"""The demo's test card processor: sessions that a tester pays or lets fail, and the events that tell of it.

Its record is apart from ours and in transactions of its own, as a processor elsewhere would keep it. Free of the
processor's library, so that the demo's card page may use it.
"""

from __future__ import annotations

import json
import secrets
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.db import transaction

from billing import locks
from billing.models import DemoCardEvent, DemoCardRecord
from core import clock

Kind = DemoCardRecord.Kind
# Long enough to see the page in between, short enough to wait for.
DELAY = timedelta(seconds=20)


class DemoCard(StrEnum):
    """What a tester may choose on the page of the test card."""

    SUCCESS = "success"
    DECLINED = "declined"
    CHALLENGE = "challenge"
    DELAYED_SUCCESS = "delayed_success"
    DELAYED_FAILURE = "delayed_failure"


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(16)}"


def find(kind: str, reference: str) -> DemoCardRecord | None:
    """One object by its id. A session whose time is over reads as expired, as at the true processor."""
    if kind == Kind.SESSION:
        settle_time(reference)
    return DemoCardRecord.objects.filter(kind=kind, reference=reference).first()


def by_intent(kind: str, payment_intent: str) -> list[DemoCardRecord]:
    """Objects of one payment, newest first."""
    rows = DemoCardRecord.objects.filter(kind=kind, body__payment_intent=payment_intent)
    return list(rows.order_by("-pk"))


def add(kind: str, body: dict[str, Any]) -> DemoCardRecord:
    return DemoCardRecord.objects.create(
        kind=kind, reference=body["id"], body=body, made_at=clock.system_now()
    )


def choose(session_id: str, card: str) -> bool:
    """Pay an open session with one of the test cards; False where it is not open. Locks the record."""
    settle_time(session_id)
    with transaction.atomic():
        row = locks.demo_card_session_for_update(session_id)
        if row is None or row.body["status"] != "open":
            return False
        if card == DemoCard.SUCCESS:
            _complete(row, payment_status="paid")
        elif card == DemoCard.DECLINED:
            # The session stays open: another card may be tried.
            row.body["last_decline"] = True
        elif card == DemoCard.CHALLENGE:
            row.body["needs_confirmation"] = True
        else:
            _complete(row, payment_status="unpaid")
            row.body["outcome"] = "paid" if card == DemoCard.DELAYED_SUCCESS else "failed"
            row.due_at = clock.system_now() + DELAY
        row.save()
    return True


def confirm(session_id: str, *, agreed: bool) -> bool:
    """Answer the bank's question after a challenge. Locks the record."""
    settle_time(session_id)
    with transaction.atomic():
        row = locks.demo_card_session_for_update(session_id)
        if row is None or row.body["status"] != "open" or not row.body.get("needs_confirmation"):
            return False
        row.body["needs_confirmation"] = False
        if agreed:
            _complete(row, payment_status="paid")
        else:
            row.body["last_decline"] = True
        row.save()
    return True


def expire(session_id: str) -> DemoCardRecord | None:
    """End an open session; None where it is not open. Locks the record."""
    with transaction.atomic():
        row = locks.demo_card_session_for_update(session_id)
        if row is None or row.body["status"] != "open":
            return None
        row.body["status"] = "expired"
        row.save()
        tell("checkout.session.expired", row.body)
    return row


def settle_time(session_id: str) -> None:
    """What only time brings: an open session ends, a delayed payment succeeds or fails. Locks the record."""
    moment = clock.system_now()
    with transaction.atomic():
        row = locks.demo_card_session_for_update(session_id)
        if row is None:
            return
        body = row.body
        if body["status"] == "open" and is_past(body):
            body["status"] = "expired"
            tell("checkout.session.expired", body)
        elif row.due_at is not None and row.due_at <= moment:
            row.due_at = None
            paid = body.pop("outcome") == "paid"
            body["payment_status"] = "paid" if paid else "unpaid"
            body["intent_status"] = "succeeded" if paid else "requires_payment_method"
            name = "succeeded" if paid else "failed"
            tell(f"checkout.session.async_payment_{name}", body)
        else:
            return
        row.save()


def is_past(body: dict[str, Any]) -> bool:
    """Whether the time of a session is over."""
    return bool(body["expires_at"] <= clock.system_now().timestamp())


def due_sessions() -> list[str]:
    """Sessions with a delayed payment whose time has come."""
    rows = DemoCardRecord.objects.filter(kind=Kind.SESSION, due_at__lte=clock.system_now())
    return list(rows.values_list("reference", flat=True))


def tell(name: str, body: dict[str, Any]) -> DemoCardEvent:
    """Queue one event with the object as it is now."""
    moment = clock.system_now()
    event_id = new_id("evt")
    event = {
        "id": event_id,
        "object": "event",
        "type": name,
        "created": int(moment.timestamp()),
        "livemode": False,
        "data": {"object": public(body)},
    }
    return DemoCardEvent.objects.create(
        event_id=event_id, body=json.dumps(event, ensure_ascii=False), next_at=moment
    )


def public(body: dict[str, Any]) -> dict[str, Any]:
    """The object as the API shows it, without the tester's notes."""
    notes = ("outcome", "last_decline", "needs_confirmation", "name", "intent_status")
    return {name: value for name, value in body.items() if name not in notes}


def due_events(limit: int = 50) -> list[int]:
    """Events to be posted, oldest first."""
    rows = DemoCardEvent.objects.filter(posted_at=None, next_at__lte=clock.system_now())
    return list(rows.order_by("pk").values_list("pk", flat=True)[:limit])


def dispute(session_id: str) -> DemoCardRecord | None:
    """The cardholder disputes a paid session; None where there is nothing to dispute."""
    with transaction.atomic():
        row = locks.demo_card_session_for_update(session_id)
        if row is None or row.body["payment_status"] != "paid":
            return None
        body = {
            "id": new_id("dp"),
            "object": "dispute",
            "payment_intent": row.body["payment_intent"],
            "status": "needs_response",
            "amount": row.body["amount_total"],
            "currency": row.body["currency"],
            "livemode": False,
        }
        found = add(Kind.DISPUTE, body)
        tell("charge.dispute.created", body)
    return found


def _complete(row: DemoCardRecord, *, payment_status: str) -> None:
    row.body |= {
        "status": "complete",
        "payment_status": payment_status,
        "intent_status": "succeeded" if payment_status == "paid" else "processing",
        "payment_intent": row.body["payment_intent"] or new_id("pi"),
        "url": None,
        "last_decline": False,
    }
    tell("checkout.session.completed", row.body)
