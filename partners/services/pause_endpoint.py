"""Stop and start the deliveries of an endpoint: by its owner, by staff, or because nothing gets through."""

from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core import audit, clock, decisions
from core.errors import Conflict
from core.mail import queue_mail
from core.models import Decision
from partners import locks
from partners.models import WebhookDelivery, WebhookEndpoint

KIND = "webhook_paused"


class Cause(StrEnum):
    """Why we paused it ourselves."""

    FAILING = "failing"
    GONE = "gone"


def pause_endpoint(*, endpoint_id: int, actor: str, reason: str = "") -> WebhookEndpoint:
    """By a person. Locks the endpoint. Raises NotFound, Conflict(already_done)."""
    with transaction.atomic():
        endpoint = locks.endpoint_for_update(endpoint_id)
        if endpoint.status == WebhookEndpoint.Status.PAUSED:
            raise Conflict(code="already_done", message=_("This is already done."))
        _pause(endpoint)
        _audit(endpoint, "pause", actor=actor, reason=reason)
        return endpoint


def resume_endpoint(*, endpoint_id: int, actor: str, reason: str = "") -> WebhookEndpoint:
    """Deliveries go on with what happens from now on; what was missed is redelivered on demand (redeliver).

    Locks the endpoint. Raises NotFound, Conflict(already_done). Closes the decision about it.
    """
    with transaction.atomic():
        endpoint = locks.endpoint_for_update(endpoint_id)
        if endpoint.status == WebhookEndpoint.Status.ACTIVE:
            raise Conflict(code="already_done", message=_("This is already done."))
        _resume(endpoint)
        _audit(endpoint, "resume", actor=actor, reason=reason)
        decisions.close_open(kind=KIND, subject=_subject(endpoint), reason="The endpoint was resumed.")
        return endpoint


def resume_by_decision(*, decision: Decision, actor: str, reason: str) -> None:
    """The button of the decision. Locks endpoint, then decision. Raises Conflict(already_done), NotFound."""
    with transaction.atomic():
        endpoint = locks.endpoint_by_public_id_for_update(decision.subject.removeprefix("webhook:"))
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="resume")
        if endpoint.status == WebhookEndpoint.Status.PAUSED:
            _resume(endpoint)
            _audit(endpoint, "resume", actor=actor, reason=reason)


def pause_failing(endpoint: WebhookEndpoint, *, cause: Cause) -> None:
    """By ourselves, with one mail to the partner and a decision for staff. The endpoint is locked by the caller."""
    if endpoint.status != WebhookEndpoint.Status.ACTIVE:
        return
    since = endpoint.failing_since
    _pause(endpoint)
    _mail(endpoint, cause)
    decisions.open_decision(
        kind=KIND,
        subject=_subject(endpoint),
        facts={
            "partner": endpoint.partner.slug,
            "url": endpoint.url,
            "cause": cause.value,
            "failing_since": since.isoformat() if since else "",
        },
    )


def _audit(endpoint: WebhookEndpoint, verb: str, *, actor: str, reason: str) -> None:
    paused, active = WebhookEndpoint.Status.PAUSED, WebhookEndpoint.Status.ACTIVE
    audit.record(
        actor=actor,
        action=f"webhook.{verb}",
        subject=_subject(endpoint),
        reason=reason,
        before={"status": active if endpoint.status == paused else paused},
        after={"status": endpoint.status},
    )


def _pause(endpoint: WebhookEndpoint) -> None:
    """What waits is given up, test events too; a worker that is under way no longer writes its result."""
    endpoint.status = WebhookEndpoint.Status.PAUSED
    endpoint.paused_at = clock.system_now()
    endpoint.save(update_fields=["status", "paused_at"])
    WebhookDelivery.objects.filter(endpoint=endpoint, status=WebhookDelivery.Status.PENDING).update(
        status=WebhookDelivery.Status.FAILED, claim_token=None, claim_until=None
    )


def _resume(endpoint: WebhookEndpoint) -> None:
    endpoint.status = WebhookEndpoint.Status.ACTIVE
    endpoint.paused_at = endpoint.failing_since = None
    endpoint.save(update_fields=["status", "paused_at", "failing_since"])


def _mail(endpoint: WebhookEndpoint, cause: Cause) -> None:
    partner = endpoint.partner
    paused_at = endpoint.paused_at or clock.system_now()
    with translation.override(partner.mail_language):
        text = render_to_string(
            "mail/webhook_paused.txt",
            {
                "endpoint": endpoint,
                "gone": cause == Cause.GONE,
                "days": settings.WEBHOOK_PAUSE_AFTER_SECONDS // 86400,
                "url": f"{settings.SITE_URL}/{partner.mail_language}/partner/webhooks/{endpoint.public_id}/",
                "simulated": settings.PROVIDER == "simulated",
            },
        )
        subject = gettext("Webhook endpoint %(endpoint)s is paused") % {"endpoint": endpoint.public_id}
    queue_mail(
        key=f"webhook-paused:{endpoint.pk}:{int(paused_at.timestamp())}",
        to=partner.mail,
        language=partner.mail_language,
        subject=subject,
        text=text,
    )


def _subject(endpoint: WebhookEndpoint) -> str:
    return f"webhook:{endpoint.public_id}"
