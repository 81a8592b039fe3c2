"""From an event of the log to the deliveries that tell it: the fan-out."""

import json

from core import clock
from core.models import Audience, Event
from partners.event_shape import EventShape, event_shape
from partners.models import PartnerOrder, WebhookDelivery, WebhookEndpoint

_TOLD = (WebhookEndpoint.Status.ACTIVE, WebhookEndpoint.Status.PAUSED)


def tell_event(event: Event) -> int:
    """One delivery for each endpoint of the order's partner that wants this event; how many endpoints there were.

    Runs in the transaction of the outbox row. May be repeated: endpoint and event are unique together. For an endpoint
    that is paused the row is made as failed, so that it is in its log and can be redelivered.
    """
    if event.audience != Audience.BUYER or not event.order_ref:
        return 0
    owner = PartnerOrder.objects.filter(order__public_id=event.order_ref).values("partner_id")
    wanted = [
        endpoint
        for endpoint in WebhookEndpoint.objects.select_related("partner").filter(
            partner_id__in=owner, status__in=_TOLD
        )
        if not endpoint.events or event.name in endpoint.events
    ]
    if wanted:
        body = body_of(event_shape(event))
        WebhookDelivery.objects.bulk_create(
            [_delivery(endpoint, event, body) for endpoint in wanted], ignore_conflicts=True
        )
    return len(wanted)


def body_of(shape: EventShape) -> str:
    """The text that is signed and sent; frozen, because a signature is over bytes."""
    return json.dumps(shape, ensure_ascii=False, separators=(",", ":"))


def _delivery(endpoint: WebhookEndpoint, event: Event, body: str) -> WebhookDelivery:
    is_on = endpoint.status == WebhookEndpoint.Status.ACTIVE and endpoint.partner.active
    moment = clock.system_now()
    return WebhookDelivery(
        endpoint=endpoint,
        event=event,
        event_name=event.name,
        message_id=event_shape(event)["id"],
        subject=event.order_ref,
        body=body,
        status=WebhookDelivery.Status.PENDING if is_on else WebhookDelivery.Status.FAILED,
        made_at=moment,
        next_at=moment,
    )
