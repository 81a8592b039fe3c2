"""Webhook endpoints and what was sent to them, for staff. The secrets are shown to nobody here."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from core.admin_actions import ServiceAction, ServiceAdmin
from core.admin_rows import ReadOnlyInline
from partners.models import DeliveryAttempt, WebhookDelivery, WebhookEndpoint
from partners.services.change_endpoint import delete_endpoint
from partners.services.pause_endpoint import pause_endpoint, resume_endpoint
from partners.services.redeliver import redeliver, redeliver_missed
from partners.services.send_test_event import send_test_event

_ACTIVE, _PAUSED = WebhookEndpoint.Status.ACTIVE, WebhookEndpoint.Status.PAUSED
_PERMISSION = "partners.change_webhookendpoint"


def _pause(endpoint: WebhookEndpoint, actor: str, reason: str) -> None:
    pause_endpoint(endpoint_id=endpoint.pk, actor=actor, reason=reason)


def _resume(endpoint: WebhookEndpoint, actor: str, reason: str) -> None:
    resume_endpoint(endpoint_id=endpoint.pk, actor=actor, reason=reason)


def _test(endpoint: WebhookEndpoint, actor: str, reason: str) -> None:
    send_test_event(endpoint_id=endpoint.pk, actor=actor, reason=reason)


def _redeliver_missed(endpoint: WebhookEndpoint, actor: str, reason: str) -> None:
    redeliver_missed(endpoint_id=endpoint.pk, actor=actor, reason=reason)


def _delete(endpoint: WebhookEndpoint, actor: str, reason: str) -> None:
    delete_endpoint(endpoint_id=endpoint.pk, actor=actor, reason=reason)


def _redeliver(delivery: WebhookDelivery, actor: str, reason: str) -> None:
    redeliver(delivery_id=delivery.pk, actor=actor, reason=reason)


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ServiceAdmin):
    list_display = ["public_id", "partner", "url", "status", "failing_since", "paused_at", "created_at"]
    list_filter = ["status", "partner"]
    list_select_related = ["partner"]
    search_fields = ["public_id", "url", "partner__name"]
    fields = [
        "public_id", "partner", "url", "note", "events", "status", "created_at", "failing_since", "paused_at",
        "former_secret_until",
    ]  # fmt: skip
    service_actions = [
        ServiceAction(
            name="pause",
            label=_("Pause"),
            explain=_(
                "Nothing is sent to this address. What waits is given up and can be redelivered later."
            ),
            permission=_PERMISSION,
            run=_pause,
            offered=lambda endpoint: endpoint.status == _ACTIVE,
        ),
        ServiceAction(
            name="resume",
            label=_("Resume the endpoint"),
            explain=_("Events are sent to this address again from now on. What was missed stays in its log."),
            permission=_PERMISSION,
            run=_resume,
            offered=lambda endpoint: endpoint.status == _PAUSED,
        ),
        ServiceAction(
            name="test",
            label=_("Send a test event"),
            explain=_("It is tried once; the deliveries say what came of it."),
            permission=_PERMISSION,
            run=_test,
            offered=lambda endpoint: endpoint.status in {_ACTIVE, _PAUSED},
            reason_required=False,
        ),
        ServiceAction(
            name="redeliver",
            label=_("Send again what was given up"),
            explain=_("Oldest first and in order."),
            permission=_PERMISSION,
            run=_redeliver_missed,
            offered=lambda endpoint: endpoint.status == _ACTIVE,
            reason_required=False,
        ),
        ServiceAction(
            name="delete",
            label=_("Delete"),
            explain=_("Nothing more is sent to it and its secrets are gone. Its log stays."),
            permission=_PERMISSION,
            run=_delete,
            offered=lambda endpoint: endpoint.status in {_ACTIVE, _PAUSED},
            danger=True,
        ),
    ]


class AttemptInline(ReadOnlyInline):
    model = DeliveryAttempt
    fields = ["number", "at", "duration_ms", "status_code", "error"]


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ServiceAdmin):
    list_display = [
        "public_id",
        "endpoint",
        "event_name",
        "subject",
        "status",
        "attempts",
        "next_at",
        "made_at",
    ]
    list_filter = ["status", "event_name"]
    list_select_related = ["endpoint"]
    search_fields = ["public_id", "message_id", "subject", "endpoint__public_id"]
    ordering = ["-id"]
    exclude = ["claim_token", "claim_until"]
    inlines = [AttemptInline]
    service_actions = [
        ServiceAction(
            name="redeliver",
            label=_("Send again"),
            explain=_("The same message with the same id, at once."),
            permission=_PERMISSION,
            run=_redeliver,
            offered=lambda delivery: delivery.event_id is not None,
            reason_required=False,
        )
    ]
