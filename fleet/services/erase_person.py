"""Erase a buyer from the fleet: keys and who they were, and the network that a hold came from."""

from core.append_only import MARKER
from core.models import AuditEntry
from core.person import Person
from core.services.blank_rows import blank_audit
from fleet.models import AccessKey, Hold, Lease


def erase(person: Person) -> dict[str, int]:
    """Must run in the transaction of the erasure, which has found every lease over. May be repeated.

    A key's row stays, so that the record of a lease has as many keys as it had.
    """
    keys = AccessKey.objects.filter(
        lease__order_ref__in=person.order_refs, purpose=AccessKey.Purpose.BUYER
    ).exclude(data=MARKER)
    count = 0
    for key in keys:
        key.data, key.comment = MARKER, ""
        key.member = MARKER if key.member else ""
        # Keys of one lease differ by it.
        key.fingerprint = f"{MARKER} {key.pk}"
        key.save(update_fields=["data", "comment", "member", "fingerprint"])
        count += 1
    holds = Hold.objects.filter(ref__in=person.order_refs)
    holds.filter(owner__startswith="web:").update(owner=MARKER)
    leases = Lease.objects.filter(order_ref__in=person.order_refs).values_list("pk", flat=True)
    subjects = [f"lease:{pk}" for pk in leases] + [f"hold:{ref}" for ref in person.order_refs]
    return {
        "access_keys": count,
        "holds": holds.exclude(prefix="").update(prefix=""),
        "audit_entries_of_machines": blank_audit(AuditEntry.objects.filter(subject__in=subjects), person),
    }
