"""Events of the card processor: stored before anything is done, applied later by re-reading what they name (S16-S18).

An event says that something happened, never what: amounts and states in it are not believed.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction

from billing import card_offer
from billing.models import CardEvent, CardFact, CardSession
from billing.rails.stripe_signature import BadEvent, verified_event
from billing.services.read_card_session import read_card_session
from core import clock, decisions, outbox
from core.text import is_storable

# While one worker applies an event no other begins.
APPLY_SECONDS = 60
LONGEST_PAUSE = 600
# Our own row is committed within seconds of the session; after a day nobody waits for it any more.
UNKNOWN_FOR = timedelta(hours=24)
ORDER_PREFIX = "ord_"


def store_event(*, payload: bytes, signature: str) -> CardEvent:
    """Store a signed event, once by its id; a repeat gives the row that is there. A worker is told on commit.

    Raises BadEvent. Locks nothing.
    """
    event = verified_event(payload, signature, card_offer.webhook_secrets())
    shown = event["data"].get("object")
    shown = shown if isinstance(shown, dict) else {}
    if len(event["id"]) > 120 or len(event["type"]) > 80:
        raise BadEvent("its id or type is too long")
    with transaction.atomic():
        row, created = CardEvent.objects.get_or_create(
            event_id=_storable(event["id"]),
            defaults={
                "kind": _storable(event["type"]),
                "session_id": _session_id(shown),
                "payment_intent": _intent(shown),
                "livemode": event.get("livemode") is True,
                "body": _storable(event),
                "received_at": clock.now(),
                "next_at": clock.system_now(),
            },
        )
        if created:
            transaction.on_commit(lambda: outbox.hint("billing.apply_card_event", row.pk))
    return row


def apply_event(event_id: int) -> bool:
    """Re-read the sessions that an event is about; True once that is done. Worker only, safe to repeat and at once.

    One that names a session which is not here yet is tried again for a day (its row may not be visible yet), then it
    is a decision. What is not of this shop, or of the other mode (test, live), is noted as such.
    """
    moment = clock.system_now()
    own = CardEvent.objects.filter(pk=event_id, applied_at=None)
    taken = own.filter(next_at__lte=moment).update(next_at=moment + timedelta(seconds=APPLY_SECONDS))
    if not taken:
        return False
    event = own.get()
    sessions = _sessions_of(event)
    if not sessions and not _names_our_order(event):
        return _done(event, "not of this shop")
    if event.livemode != card_offer.is_live():
        return _done(event, "of the other mode")
    unread = [row for row in sessions if not read_card_session(row.pk)]
    if sessions and not unread:
        return _done(event, "")
    _try_later(event, "could not be read yet" if sessions else "its session is not known yet")
    return False


def due_events(limit: int = 200) -> list[int]:
    """Events that wait to be applied, oldest first."""
    rows = CardEvent.objects.filter(applied_at=None, next_at__lte=clock.system_now())
    return list(rows.order_by("pk").values_list("pk", flat=True)[:limit])


def _sessions_of(event: CardEvent) -> list[CardSession]:
    """By the session's id, by the payment's, or by the order and attempt that we wrote on both."""
    opened = CardSession.objects.exclude(session_id="")
    if event.session_id:
        return list(opened.filter(session_id=event.session_id))
    if event.payment_intent:
        known = CardFact.objects.filter(payment_intent=event.payment_intent).values("session_id")
        found = list(opened.filter(pk__in=known))
        if found:
            return found
    notes = _notes(event)
    attempt = notes.get("attempt", "")
    if not attempt.isdecimal():
        return []
    return list(opened.filter(payment__order__public_id=notes.get("order", ""), attempt=int(attempt[:4])))


def _names_our_order(event: CardEvent) -> bool:
    shown = event.body["data"].get("object") or {}
    named = [_notes(event).get("order", ""), shown.get("client_reference_id")]
    return any(isinstance(name, str) and name.startswith(ORDER_PREFIX) for name in named)


def _notes(event: CardEvent) -> dict[str, str]:
    metadata = (event.body["data"].get("object") or {}).get("metadata")
    return {k: v for k, v in metadata.items() if isinstance(v, str)} if isinstance(metadata, dict) else {}


def _done(event: CardEvent, remark: str) -> bool:
    CardEvent.objects.filter(pk=event.pk, applied_at=None).update(applied_at=clock.now(), last_error=remark)
    return True


def _try_later(event: CardEvent, remark: str) -> None:
    attempts = event.attempts + 1
    CardEvent.objects.filter(pk=event.pk).update(
        attempts=attempts,
        last_error=remark,
        next_at=clock.system_now() + timedelta(seconds=min(LONGEST_PAUSE, 2**attempts)),
    )
    if clock.now() - event.received_at > UNKNOWN_FOR:
        decisions.open_decision(
            kind="card_event_unknown",
            subject=f"card_event:{event.pk}",
            facts={"event": event.event_id, "kind": event.kind, "why": remark},
        )
        _done(event, remark)


def _session_id(shown: Mapping[str, Any]) -> str:
    return _id(shown.get("id")) if shown.get("object") == "checkout.session" else ""


def _intent(shown: Mapping[str, Any]) -> str:
    if shown.get("object") == "payment_intent":
        return _id(shown.get("id"))
    found = shown.get("payment_intent")
    return _id(found.get("id") if isinstance(found, dict) else found)


def _id(value: Any) -> str:
    return str(_storable(value)) if isinstance(value, str) and len(value) <= 120 else ""


def _storable(value: Any) -> Any:
    """The same with what PostgreSQL cannot hold (NUL, half a surrogate pair) replaced."""
    if isinstance(value, str):
        if is_storable(value):
            return value
        return "".join(sign if is_storable(sign) else "\ufffd" for sign in value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(name): _storable(item) for name, item in value.items()}
    return value
