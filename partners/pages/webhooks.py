"""Endpoints and deliveries as the pages show them."""

from dataclasses import dataclass

from django.utils.translation import pgettext

from partners.models import DeliveryAttempt, WebhookDelivery, WebhookEndpoint
from partners.webhook_selectors import deliveries_of, tries_of

SHOWN_DELIVERIES = 50


@dataclass(frozen=True)
class EndpointRow:
    endpoint: WebhookEndpoint
    word: str
    tone: str
    icon: str

    @property
    def is_paused(self) -> bool:
        return self.endpoint.status == WebhookEndpoint.Status.PAUSED


@dataclass(frozen=True)
class DeliveryRow:
    """`last` is the latest attempt, if there was one."""

    delivery: WebhookDelivery
    word: str
    tone: str
    icon: str
    last: DeliveryAttempt | None
    can_redeliver: bool


def endpoint_row(endpoint: WebhookEndpoint) -> EndpointRow:
    if endpoint.status == WebhookEndpoint.Status.PAUSED:
        return EndpointRow(endpoint, pgettext("endpoint", "paused"), "warn", "warn")
    if endpoint.failing_since is not None:
        return EndpointRow(endpoint, pgettext("endpoint", "fails"), "bad", "stop")
    return EndpointRow(endpoint, pgettext("endpoint", "active"), "good", "check")


def delivery_rows(endpoint: WebhookEndpoint) -> list[DeliveryRow]:
    """The newest of its log. 2 queries."""
    rows = list(deliveries_of(endpoint)[:SHOWN_DELIVERIES])
    tries = tries_of(rows)
    is_active = endpoint.status == WebhookEndpoint.Status.ACTIVE
    return [_delivery_row(row, tries[row.pk], is_active=is_active) for row in rows]


def _delivery_row(row: WebhookDelivery, tries: list[DeliveryAttempt], *, is_active: bool) -> DeliveryRow:
    word, tone, icon = {
        WebhookDelivery.Status.PENDING.value: (pgettext("delivery", "waits"), "info", "clock"),
        WebhookDelivery.Status.DELIVERED.value: (pgettext("delivery", "delivered"), "good", "check"),
        WebhookDelivery.Status.FAILED.value: (pgettext("delivery", "given up"), "bad", "stop"),
    }[row.status]
    last = tries[-1] if tries else None
    return DeliveryRow(row, word, tone, icon, last, is_active and row.event_id is not None)
