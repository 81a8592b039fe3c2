"""A buyer asks for his data, or to be erased: both are noted without the address that they are about."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit
from core.append_only import MARKER
from core.errors import Conflict, NotFound
from core.models import AuditEntry
from core.person import Kept, Person, find, kept_of, open_matters_of, parts

ERASED, EXPORTED = "person.erase", "person.export"


@dataclass(frozen=True)
class Erasure:
    """What was done: the audit entry, with how many rows of each kind."""

    entry: AuditEntry
    counts: dict[str, Any]


def export_person(*, address: str, actor: str, reason: str = "") -> tuple[Person, Kept]:
    """All that is kept of the person of an address. Locks nothing; writes an audit entry. Raises Invalid, NotFound."""
    with transaction.atomic():
        person = find(address)
        kept = kept_of(person)
        if not kept:
            raise _unknown()
        _note(EXPORTED, person, actor, reason, {section: len(rows) for section, rows in kept.items()})
    return person, kept


def erase_person(*, address: str, actor: str, reason: str) -> Erasure:
    """Erase the person of an address; the books keep what the law asks for.

    Locks the orders, then what each app locks; one transaction. Raises Invalid, Conflict(person_busy) with the open
    matters, and NotFound where nothing is kept, which is what a second call hears.
    """
    with transaction.atomic():
        person = find(address, lock=True)
        if not kept_of(person):
            raise _unknown()
        matters = open_matters_of(person)
        if matters:
            raise Conflict(
                code="person_busy",
                message=_("Not yet: %(matters)s"),
                params={"matters": " ".join(matters)},
            )
        counts: dict[str, int] = {}
        for part in parts():
            counts |= part.erase(person)
        entry = _note(ERASED, person, actor, reason, {name: count for name, count in counts.items() if count})
    return Erasure(entry=entry, counts=entry.after)


def _note(action: str, person: Person, actor: str, reason: str, after: dict[str, int]) -> AuditEntry:
    # Staff may have written the address itself as the reason.
    told = MARKER if person.is_mentioned(reason) else reason
    return audit.record(actor=actor, action=action, subject=person.mark, reason=told, after=after)


def _unknown() -> NotFound:
    return NotFound(code="not_found", message=_("Nothing is kept about this address."), field="address")
