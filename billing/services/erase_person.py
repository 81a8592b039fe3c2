"""Erase a buyer from billing's rows. Money, chain facts, the books and issued documents stay as they are."""

import json

from django.db.models import TextField
from django.db.models.functions import Cast

from billing.models import Acceptance, CardSession, DemoCardEvent, DemoCardRecord, Refund
from billing.person import audit_of, card_events_of
from core.append_only import MARKER
from core.person import Person, blanked
from core.services.blank_rows import blank_audit

# What the card processor tells of a payer.
_OF_PAYER = (
    "billing_details",
    "collected_information",
    "customer_details",
    "customer_email",
    "receipt_email",
    "shipping",
    "shipping_details",
)


def erase(person: Person) -> dict[str, int]:
    """Must run in the transaction of the erasure. May be repeated."""
    return {
        "card_events": _card_events(person),
        "card_sessions": CardSession.objects.filter(payment__order__in=person.order_ids)
        .exclude(url="", last_error="")
        .update(url="", last_error=""),
        "demo_card_records": _demo_records(person),
        "refund_notes": _refund_notes(person),
        "acceptances": _acceptances(person),
        "audit_entries_of_money": blank_audit(audit_of(person), person),
    }


def _card_events(person: Person) -> int:
    count = 0
    for row in card_events_of(person).order_by("pk"):
        body = blanked(row.body, person=person, keys=_OF_PAYER)
        if body != row.body:
            row.body = body
            row.save(update_fields=["body"])
            count += 1
    return count


def _demo_records(person: Person) -> int:
    """The demo's own card processor; a true one keeps a record of its own, which is asked for there."""
    count = 0
    events = list(card_events_of(person).values_list("event_id", flat=True))
    for event in DemoCardEvent.objects.filter(event_id__in=events):
        event.body = json.dumps(blanked(json.loads(event.body), person=person, keys=_OF_PAYER))
        event.save(update_fields=["body"])
    bodies = DemoCardRecord.objects.alias(text=Cast("body", TextField()))
    for record in bodies.filter(text__icontains=person.address):
        record.body = blanked(record.body, person=person, keys=_OF_PAYER)
        record.save(update_fields=["body"])
        count += 1
    return count


def _refund_notes(person: Person) -> int:
    count = 0
    for row in Refund.objects.filter(order__in=person.order_ids).exclude(note="", last_error=""):
        if person.is_mentioned(row.note) or person.is_mentioned(row.last_error):
            row.note, row.last_error = MARKER, ""
            row.save(update_fields=["note", "last_error"])
            count += 1
    return count


def _acceptances(person: Person) -> int:
    rows = Acceptance.objects.filter(payment__order__in=person.order_ids)
    named = [row.pk for row in rows if row.reason != MARKER and person.is_mentioned(row.reason)]
    return Acceptance.objects.filter(pk__in=named).update(reason=MARKER)
