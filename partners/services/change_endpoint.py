"""Webhook endpoints: made, changed, their secret rotated, deleted. An address is checked before it is saved."""

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core import audit, clock, decisions
from core.errors import Conflict, Invalid
from core.outward_target import check_reachable, parse_target
from core.text import clean_line
from partners import locks
from partners.event_names import event_names
from partners.models import WebhookDelivery, WebhookEndpoint
from partners.services.pause_endpoint import KIND as PAUSED
from partners.webhook_selectors import endpoints_of
from partners.webhook_signature import OVERLAP, new_secret

MAX_ENDPOINTS = 10
MAX_NOTE = 200


def checked_url(text: str) -> str:
    """The address in the form in which it is kept. Asks the name server: call it before any transaction.

    Raises Invalid(invalid_url, url_not_https), Refusal(url_inward).
    """
    target = parse_target(text)
    check_reachable(target)
    return target.url


def add_endpoint(
    *, partner_id: int, url: str, events: Sequence[str] = (), note: str = "", actor: str
) -> WebhookEndpoint:
    """An endpoint that hears what happens from now on; `url` comes from checked_url. Its secret is on the row.

    Locks the partner. Raises Invalid(unknown_event, too_long), Conflict(too_many_endpoints, partner_inactive).
    """
    names, text = checked_events(events), clean_line(note, field="note", max_length=MAX_NOTE)
    with transaction.atomic():
        partner = locks.partner_for_update(partner_id)
        if not partner.active:
            raise Conflict(code="partner_inactive", message=_("This partner is switched off."))
        if endpoints_of(partner).count() >= MAX_ENDPOINTS:
            raise Conflict(
                code="too_many_endpoints",
                message=ngettext_lazy(
                    "There is already %(limit)s endpoint. Delete one first.",
                    "There are already %(limit)s endpoints. Delete one first.",
                    "limit",
                ),
                params={"limit": MAX_ENDPOINTS},
            )
        endpoint = WebhookEndpoint.objects.create(
            partner=partner, url=url, events=names, note=text, secret=new_secret(), created_at=clock.now()
        )
        _record(endpoint, actor, "add", {"url": url, "events": names})
        return endpoint


def change_endpoint(
    *,
    endpoint_id: int,
    actor: str,
    url: str | None = None,
    events: Sequence[str] | None = None,
    note: str | None = None,
) -> WebhookEndpoint:
    """What is None stays. What waits to be sent goes to the new address. Locks the endpoint. Raises as add_endpoint."""
    names = None if events is None else checked_events(events)
    text = None if note is None else clean_line(note, field="note", max_length=MAX_NOTE)
    given = {"url": url, "events": names, "note": text}
    changes = {name: value for name, value in given.items() if value is not None}
    with transaction.atomic():
        endpoint = locks.endpoint_for_update(endpoint_id)
        for name, value in changes.items():
            setattr(endpoint, name, value)
        if url is not None:
            endpoint.failing_since = None  # that was about the former address
        if changes:
            endpoint.save(update_fields=[*sorted(changes), "failing_since"])
            _record(endpoint, actor, "change", changes)
        return endpoint


def rotate_secret(*, endpoint_id: int, actor: str) -> WebhookEndpoint:
    """A new secret, on the row; the former one signs too for OVERLAP. A secret before that one signs no longer.

    Locks the endpoint. Raises NotFound. Each call makes another secret.
    """
    with transaction.atomic():
        endpoint = locks.endpoint_for_update(endpoint_id)
        endpoint.former_secret = endpoint.secret
        endpoint.former_secret_until = clock.system_now() + OVERLAP
        endpoint.secret = new_secret()
        endpoint.save(update_fields=["secret", "former_secret", "former_secret_until"])
        _record(endpoint, actor, "rotate_secret", {})
        return endpoint


def delete_endpoint(*, endpoint_id: int, actor: str, reason: str = "") -> None:
    """It hears nothing more; its log stays, its secrets do not. Locks the endpoint. Raises NotFound the second time."""
    with transaction.atomic():
        endpoint = locks.endpoint_for_update(endpoint_id)
        endpoint.status = WebhookEndpoint.Status.DELETED
        endpoint.secret = endpoint.former_secret = ""
        endpoint.save(update_fields=["status", "secret", "former_secret"])
        WebhookDelivery.objects.filter(endpoint=endpoint, status=WebhookDelivery.Status.PENDING).update(
            status=WebhookDelivery.Status.FAILED, claim_token=None, claim_until=None
        )
        decisions.close_open(
            kind=PAUSED, subject=f"webhook:{endpoint.public_id}", reason="The endpoint was deleted."
        )
        _record(endpoint, actor, "delete", {}, reason=reason)


def checked_events(names: Sequence[str]) -> list[str]:
    """Each once, in order; none means all. Raises Invalid(unknown_event)."""
    known = event_names()
    for name in names:
        if name not in known:
            raise Invalid(code="unknown_event", message=_("There is no such event."), field="events")
    return [name for name in known if name in names]


def _record(
    endpoint: WebhookEndpoint, actor: str, verb: str, after: Mapping[str, object], *, reason: str = ""
) -> None:
    audit.record(
        actor=actor,
        action=f"webhook.{verb}",
        subject=f"webhook:{endpoint.public_id}",
        reason=reason,
        after=dict(after),
    )
