"""A test event: whether an endpoint hears us, without an order."""

import secrets

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit, clock
from core.errors import TooMany
from partners import ids, locks
from partners.event_names import TEST_EVENT
from partners.event_shape import EventShape
from partners.models import WebhookDelivery
from partners.services.tell_event import body_of

# Enough for whoever sets up a receiver, too few to look around a network with.
MAX_WAITING = 3


def send_test_event(*, endpoint_id: int, actor: str, reason: str = "") -> WebhookDelivery:
    """Queue one. It is tried once, also for a paused endpoint. Locks the endpoint.

    Raises NotFound, TooMany(too_many_tests).
    """
    with transaction.atomic():
        endpoint = locks.endpoint_for_update(endpoint_id)
        tests = WebhookDelivery.objects.filter(endpoint=endpoint, event=None)
        if tests.filter(status=WebhookDelivery.Status.PENDING).count() >= MAX_WAITING:
            raise TooMany(
                code="too_many_tests",
                message=_("Test events of this endpoint are still under way. Wait for them."),
                retry_after_seconds=15,
            )
        moment = clock.system_now()
        message_id = f"evt_test_{secrets.token_hex(12)}"
        shape: EventShape = {
            "id": message_id,
            "type": TEST_EVENT,
            "at": clock.now().isoformat().replace("+00:00", "Z"),
            "order": "",
            "data": {},
        }
        public_id = ids.delivery_id()
        audit.record(
            actor=actor,
            action="webhook.test",
            subject=f"webhook:{endpoint.public_id}",
            reason=reason,
            after={"delivery": public_id},
        )
        return WebhookDelivery.objects.create(
            public_id=public_id,
            endpoint=endpoint,
            event_name=TEST_EVENT,
            message_id=message_id,
            subject=public_id,
            body=body_of(shape),
            made_at=moment,
            next_at=moment,
        )
