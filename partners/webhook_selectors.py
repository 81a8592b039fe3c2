"""Reads of webhook endpoints and deliveries. What belongs to a partner is found through him alone."""

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from core import claims, clock
from partners.models import DeliveryAttempt, Partner, WebhookDelivery, WebhookEndpoint

_ACTIVE, _PAUSED = WebhookEndpoint.Status.ACTIVE, WebhookEndpoint.Status.PAUSED
_PENDING = WebhookDelivery.Status.PENDING


def endpoints_of(partner: Partner) -> QuerySet[WebhookEndpoint]:
    """His endpoints, oldest first, without deleted ones."""
    return WebhookEndpoint.objects.filter(partner=partner, status__in=[_ACTIVE, _PAUSED]).order_by("pk")


def endpoint_of(partner: Partner, public_id: str) -> WebhookEndpoint | None:
    """One of his, or None for "none" and "not yours" alike."""
    return endpoints_of(partner).filter(public_id=public_id).first()


def deliveries_of(endpoint: WebhookEndpoint) -> QuerySet[WebhookDelivery]:
    """Its log, newest first."""
    return WebhookDelivery.objects.filter(endpoint=endpoint).order_by("-pk")


def delivery_of(endpoint: WebhookEndpoint, public_id: str) -> WebhookDelivery | None:
    return WebhookDelivery.objects.filter(endpoint=endpoint, public_id=public_id).first()


def tries_of(rows: list[WebhookDelivery]) -> dict[int, list[DeliveryAttempt]]:
    """The attempts of these deliveries, oldest first, in one query."""
    found: dict[int, list[DeliveryAttempt]] = {row.pk: [] for row in rows}
    for attempt in DeliveryAttempt.objects.filter(delivery__in=rows).order_by("pk"):
        found[attempt.delivery_id].append(attempt)
    return found


def due_deliveries(*, per_endpoint: int, limit: int) -> list[WebhookDelivery]:
    """What may be sent at this moment, longest due first; of each endpoint only so many, so that none hides others.

    A delivery waits while an earlier one of its endpoint and subject is pending. A paused endpoint gets test events
    only.
    """
    earlier = WebhookDelivery.objects.filter(
        endpoint=OuterRef("endpoint"), subject=OuterRef("subject"), status=_PENDING, pk__lt=OuterRef("pk")
    )
    is_test = Q(event=None) & Q(endpoint__status=_PAUSED)
    rows = (
        WebhookDelivery.objects.filter(claims.free(), status=_PENDING, next_at__lte=clock.system_now())
        .filter(Q(endpoint__status=_ACTIVE) | is_test, endpoint__partner__active=True)
        .exclude(Exists(earlier))
        .annotate(place=Window(RowNumber(), partition_by=F("endpoint"), order_by=["next_at", "pk"]))
        .filter(place__lte=per_endpoint)
        .select_related("endpoint")
        .order_by("next_at", "pk")
    )
    return list(rows[:limit])
