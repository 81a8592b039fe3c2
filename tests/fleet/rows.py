"""Reads that many tests of the fleet need."""

from core.models import Event
from fleet.models import Lease


def events(lease: Lease) -> list[str]:
    """Names of the events of a lease's order, oldest first."""
    return list(Event.objects.filter(order_ref=lease.order_ref).order_by("pk").values_list("name", flat=True))


def reload(lease: Lease) -> Lease:
    return Lease.objects.get(pk=lease.pk)
