"""What came of one attempt to deliver: kept, counted, and followed by the next one, by success or by giving up."""

import uuid

from django.conf import settings
from django.db import transaction

from core import clock
from core.outward import Answer
from partners import locks
from partners.models import DeliveryAttempt, WebhookDelivery, WebhookEndpoint
from partners.services.pause_endpoint import Cause, pause_failing
from partners.webhook_retries import pause_after

_GONE = 410


def record_attempt(*, delivery_id: int, token: uuid.UUID, answer: Answer) -> bool:
    """Locks endpoint, then delivery. False where the claim is no longer ours: somebody else has decided meanwhile.

    410 pauses the endpoint at once, WEBHOOK_PAUSE_AFTER_SECONDS without any success pause it too. A test event is
    tried once and says nothing about the endpoint's failing.
    """
    with transaction.atomic():
        endpoint, delivery = locks.delivery_for_update(delivery_id)
        if delivery.claim_token != token or delivery.status != WebhookDelivery.Status.PENDING:
            return False
        _append(delivery, answer)
        delivery.attempts += 1
        delivery.claim_token = delivery.claim_until = None
        if answer.status is not None and 200 <= answer.status < 300:
            _delivered(endpoint, delivery)
        elif delivery.event_id is None:
            delivery.status = WebhookDelivery.Status.FAILED
            delivery.save()
        else:
            _failed(endpoint, delivery, is_gone=answer.status == _GONE)
        return True


def _append(delivery: WebhookDelivery, answer: Answer) -> None:
    DeliveryAttempt.objects.create(
        delivery=delivery,
        number=delivery.tries.count() + 1,
        at=clock.system_now(),
        duration_ms=answer.duration_ms,
        status_code=answer.status,
        error=answer.error,
    )


def _delivered(endpoint: WebhookEndpoint, delivery: WebhookDelivery) -> None:
    delivery.status = WebhookDelivery.Status.DELIVERED
    delivery.delivered_at = clock.system_now()
    delivery.save()
    if endpoint.failing_since is not None:
        endpoint.failing_since = None
        endpoint.save(update_fields=["failing_since"])


def _failed(endpoint: WebhookEndpoint, delivery: WebhookDelivery, *, is_gone: bool) -> None:
    moment = clock.system_now()
    pause = None if is_gone else pause_after(delivery.attempts)
    if pause is None:
        delivery.status = WebhookDelivery.Status.FAILED
    else:
        delivery.next_at = moment + pause
    delivery.save()
    endpoint.failing_since = endpoint.failing_since or moment
    endpoint.save(update_fields=["failing_since"])
    failing_seconds = (moment - endpoint.failing_since).total_seconds()
    if is_gone:
        pause_failing(endpoint, cause=Cause.GONE)
    elif failing_seconds >= settings.WEBHOOK_PAUSE_AFTER_SECONDS:
        pause_failing(endpoint, cause=Cause.FAILING)
