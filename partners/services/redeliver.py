"""Send again what was given up, or what the receiver has lost."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit, clock
from core.errors import Conflict
from partners import locks
from partners.models import WebhookDelivery, WebhookEndpoint

# More at one press would fill a receiver that has just come back.
MAX_AT_ONCE = 1000
_PENDING, _FAILED = WebhookDelivery.Status.PENDING, WebhookDelivery.Status.FAILED


def redeliver(*, delivery_id: int, actor: str, reason: str = "") -> WebhookDelivery:
    """The same message with the same id, at once, with all its retries anew. Locks endpoint, then delivery.

    One that still waits is only brought forward and keeps its place behind earlier ones. Any other leaves the order of
    its subject, so that no later event waits for it. Raises Conflict(endpoint_paused, test_event).
    """
    with transaction.atomic():
        endpoint, delivery = locks.delivery_for_update(delivery_id)
        _check(endpoint)
        if delivery.event_id is None:
            raise Conflict(code="test_event", message=_("A test event is sent once. Send another one."))
        before = {"status": delivery.status, "attempts": delivery.attempts}
        delivery.next_at = clock.system_now()
        if delivery.status != _PENDING:
            delivery.status, delivery.attempts, delivery.delivered_at = _PENDING, 0, None
            delivery.subject = delivery.public_id
        delivery.save(update_fields=["status", "attempts", "delivered_at", "subject", "next_at"])
        audit.record(
            actor=actor,
            action="webhook.redeliver",
            subject=f"webhook_delivery:{delivery.public_id}",
            reason=reason,
            before=before,
            after={"status": delivery.status, "attempts": delivery.attempts},
        )
        return delivery


def redeliver_missed(*, endpoint_id: int, actor: str, reason: str = "") -> int:
    """All that was given up, oldest first and in order, MAX_AT_ONCE at most; how many. Locks the endpoint.

    Raises NotFound, Conflict(endpoint_paused).
    """
    with transaction.atomic():
        endpoint = locks.endpoint_for_update(endpoint_id)
        _check(endpoint)
        missed = WebhookDelivery.objects.filter(endpoint=endpoint, status=_FAILED, event__isnull=False)
        ids = list(missed.order_by("pk").values_list("pk", flat=True)[:MAX_AT_ONCE])
        count = missed.filter(pk__in=ids).update(
            status=_PENDING, attempts=0, next_at=clock.system_now(), claim_token=None, claim_until=None
        )
        audit.record(
            actor=actor,
            action="webhook.redeliver_missed",
            subject=f"webhook:{endpoint.public_id}",
            reason=reason,
            after={"count": count},
        )
        return count


def _check(endpoint: WebhookEndpoint) -> None:
    if endpoint.status != WebhookEndpoint.Status.ACTIVE:
        raise Conflict(code="endpoint_paused", message=_("This endpoint is paused. Resume it first."))
