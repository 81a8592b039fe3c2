"""One shape of an event for everybody who hears it: `GET events` and webhooks send the same."""

from typing import TypedDict

from core.models import Event
from partners import ids


class EventShape(TypedDict):
    """`order` is the order that the event belongs to; `data` is what the log holds."""

    id: str
    type: str
    at: str
    order: str
    data: dict[str, object]


def event_shape(event: Event) -> EventShape:
    """As JSON has it: times as RFC 3339 in UTC, money as text."""
    return {
        "id": ids.event_id(event.pk),
        "type": event.name,
        "at": event.at.isoformat().replace("+00:00", "Z"),
        "order": event.order_ref,
        "data": event.payload,
    }
