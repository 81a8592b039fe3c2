"""Erase a person from core's rows: mails, payloads of the log, decisions that are closed, words in the audit."""

from typing import Any

from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet

from core.append_only import MARKER
from core.locks import mails_for_update
from core.models import AuditEntry, OutboxRow, OutgoingMail
from core.person import Person, blanked
from core.person_rows import OF_PERSON, audit_of, decisions_of, events_of, mails_of

_OF_DECISION = ("to", "subject", "text", "error", "last_error")
_OF_AUDIT = ("name", "company", "address", "to", "text", "mail")


def erase(person: Person) -> dict[str, int]:
    """Must run in the transaction of the erasure. Locks the mails. May be repeated.

    What stays is the fact, its time and its amounts.
    """
    # Mails come last: they are how decisions about them are found.
    return {
        "audit_entries": _blank_audit(person),
        "decisions": _decisions(person),
        "events": _events(person),
        "mails": _mails(person),
    }


def blank_audit(entries: QuerySet[AuditEntry], person: Person) -> int:
    """Put the marker where an entry names the person; another app's erasure calls it for its own subjects."""
    count = 0
    for row in entries.order_by("pk"):
        reason = MARKER if row.reason and person.is_mentioned(row.reason) else row.reason
        before, after = (_blanked_part(row, part, person) for part in (row.before, row.after))
        if (reason, before, after) != (row.reason, row.before, row.after):
            AuditEntry.objects.filter(pk=row.pk).update(reason=reason, before=before, after=after)
            count += 1
    return count


def _blanked_part(row: AuditEntry, part: Any, person: Person) -> Any:
    """Of a decision its facts; its own kind and subject are no words of anybody's."""
    if not row.subject.startswith("decision:"):
        return blanked(part, person=person, keys=_OF_AUDIT)
    found = blanked(part, person=person)
    if isinstance(part, dict) and "facts" in part:
        found["facts"] = blanked(part["facts"], person=person, keys=_OF_DECISION)
    return found


def _blank_audit(person: Person) -> int:
    # The admin's own history names a row as it was called when somebody saved it.
    LogEntry.objects.filter(object_repr__icontains=person.address).update(object_repr=MARKER)
    return blank_audit(audit_of(person), person)


def _decisions(person: Person) -> int:
    count = 0
    for row in decisions_of(person).exclude(closed_at=None):
        facts = blanked(row.facts, person=person, keys=_OF_DECISION)
        reason = MARKER if row.reason and person.is_mentioned(row.reason) else row.reason
        if (facts, reason) != (row.facts, row.reason):
            row.facts, row.reason = facts, reason
            row.save(update_fields=["facts", "reason"])
            count += 1
    return count


def _events(person: Person) -> int:
    """The database lets a text of a payload become the marker and refuses every other change (docs/adr/0011)."""
    count = 0
    for row in events_of(person).order_by("pk").iterator(chunk_size=500):
        payload = blanked(row.payload, person=person, keys=OF_PERSON.get(row.name, ()))
        if payload != row.payload:
            type(row).objects.filter(pk=row.pk).update(payload=payload)
            count += 1
    OutboxRow.objects.filter(event__order_ref__in=person.order_refs).exclude(last_error="").update(
        last_error=""
    )
    return count


def _mails(person: Person) -> int:
    """Address, subject and text go; that a mail was sent, and when, stays. What still waits is never sent."""
    count = 0
    for row in mails_for_update(mails_of(person).exclude(text=MARKER)):
        if row.status == OutgoingMail.Status.QUEUED and row.order_ref not in ("", *person.order_refs):
            # Of an order that was placed while the erasure ran, or that somebody else answers for: it is owed.
            continue
        # A partner's own address is his, whoever the order was for.
        row.to = "" if row.to.lower() == person.address else row.to
        row.subject = row.text = MARKER
        row.last_error = ""
        if row.status == OutgoingMail.Status.QUEUED:
            row.status, row.claim_token, row.claim_until = OutgoingMail.Status.FAILED, None, None
        row.save()
        count += 1
    return count
