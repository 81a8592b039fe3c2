"""What core keeps of a buyer: mails, the log of his orders, what he reported, and staff's own words about it."""

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast, Lower
from django.utils.translation import gettext as _

from core.models import AuditEntry, Decision, Event, OutgoingMail
from core.person import Kept, Person

# What these events hold of a person; all other payloads are about money and machines.
OF_PERSON = {
    "lease.login": ("fingerprint", "member", "network"),
    "lease.key_added": ("fingerprint", "member"),
    "lease.key_removed": ("fingerprint", "member"),
}


def mails_of(person: Person) -> QuerySet[OutgoingMail]:
    """Mails about the orders, and those to the address."""
    return OutgoingMail.objects.alias(folded=Lower("to")).filter(
        Q(order_ref__in=person.order_refs) | Q(folded=person.address)
    )


def decisions_of(person: Person) -> QuerySet[Decision]:
    """Decisions about the orders or about one of the mails."""
    mails = [f"mail:{pk}" for pk in mails_of(person).values_list("pk", flat=True)]
    return Decision.objects.filter(
        Q(order_ref__in=person.order_refs) | Q(kind="mail_failed", subject__in=mails)
    )


def events_of(person: Person) -> QuerySet[Event]:
    return Event.objects.filter(order_ref__in=person.order_refs)


def audit_of(person: Person) -> QuerySet[AuditEntry]:
    """About the orders, their decisions and mails, and all that name the address. Reads the whole audit: rare."""
    decisions = [f"decision:{pk}" for pk in decisions_of(person).values_list("pk", flat=True)]
    mails = [f"mail:{pk}" for pk in mails_of(person).values_list("pk", flat=True)]
    orders = [f"order:{pk}" for pk in person.order_ids]
    told = {name: Cast(name, TextField()) for name in ("before", "after")}
    return AuditEntry.objects.alias(before_text=told["before"], after_text=told["after"]).filter(
        Q(subject__in=[*decisions, *mails, *orders])
        | Q(reason__icontains=person.address)
        | Q(before_text__icontains=person.address)
        | Q(after_text__icontains=person.address)
    )


def kept(person: Person) -> Kept:
    return {
        "mails": list(
            mails_of(person)
            .order_by("pk")
            .values("to", "language", "subject", "text", "order_ref", "status", "queued_at", "sent_at")
        ),
        "events": list(events_of(person).order_by("pk").values("name", "order_ref", "payload", "at")),
        "decisions": list(
            decisions_of(person)
            .order_by("pk")
            .values("kind", "order_ref", "facts", "opened_at", "closed_at", "action", "reason")
        ),
    }


def open_matters(person: Person) -> list[str]:
    waiting = decisions_of(person).filter(closed_at=None).order_by("pk")
    found = [
        _("A decision about order %(order)s is open.") % {"order": row.order_ref}
        if row.order_ref
        else _("A decision about a mail to this address is open.")
        for row in waiting
    ]
    if User.objects.filter(Q(email__iexact=person.address) | Q(username__iexact=person.address)).exists():
        found.append(_("The address is that of a staff account. Change it there first."))
    return found
