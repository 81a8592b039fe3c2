"""What fleet keeps of a buyer: his leases, the keys that opened them, where holds were asked for."""

from django.db.models import Q
from django.utils.translation import gettext as _

from core.person import Kept, Person
from fleet.lifecycle import OVER_STATES, LeaseStatus
from fleet.models import AccessKey, Hold, Lease


def kept(person: Person) -> Kept:
    leases = Lease.objects.filter(order_ref__in=person.order_refs).order_by("pk")
    keys = AccessKey.objects.filter(
        lease__order_ref__in=person.order_refs, purpose=AccessKey.Purpose.BUYER
    ).order_by("pk")
    return {
        "leases": list(
            leases.values(
                "order_ref", "username", "image", "status", "reserved_at", "ready_at", "ends_at", "closed_at"
            )
        ),
        "access_keys": list(
            keys.values(
                "lease__order_ref",
                "algorithm",
                "data",
                "fingerprint",
                "comment",
                "member",
                "added_at",
                "removed_at",
            )
        ),
        "holds": list(
            Hold.objects.filter(ref__in=person.order_refs).order_by("pk").values("ref", "prefix", "placed_at")
        ),
    }


def open_matters(person: Person) -> list[str]:
    living = Lease.objects.filter(order_ref__in=person.order_refs).filter(
        ~Q(status__in=OVER_STATES) | Q(status=LeaseStatus.FAILED, wiped_at=None)
    )
    return [
        _("The machine of order %(order)s is not wiped yet.") % {"order": row.order_ref}
        for row in living.order_by("pk")
    ]
