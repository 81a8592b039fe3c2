"""Every lock of this app, by name, and what may be locked together with what (docs/locking.md)."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.utils.translation import gettext_lazy as _

from core.errors import NotFound
from core.locks import mark, number_of
from partners.models import ApiKey, LoginLink, Member, Partner, WebhookDelivery, WebhookEndpoint

_SENDER = number_of("partners.sender")


def key_for_update(key_id: int) -> ApiKey:
    """One key."""
    return mark(ApiKey.objects.select_for_update(of=("self",)).get(pk=key_id))


def partner_for_update(partner_id: int) -> Partner:
    """One partner."""
    return mark(Partner.objects.select_for_update(of=("self",)).get(pk=partner_id))


def member_for_update(member_id: int) -> Member:
    """One member."""
    return mark(Member.objects.select_for_update(of=("self",)).get(pk=member_id))


def login_link_for_update(link_hash: str) -> LoginLink | None:
    """A login link by the hash of its text, with member and partner."""
    link = (
        LoginLink.objects.select_for_update(of=("self",))
        .select_related("member__partner")
        .filter(hash=link_hash)
        .first()
    )
    return None if link is None else mark(link)


def endpoint_for_update(endpoint_id: int) -> WebhookEndpoint:
    """One webhook endpoint with its partner. Raises NotFound for one that was deleted."""
    return _living(WebhookEndpoint.objects.filter(pk=endpoint_id).first())


def endpoint_by_public_id_for_update(public_id: str) -> WebhookEndpoint:
    """The same, by the id that partners see."""
    return _living(WebhookEndpoint.objects.filter(public_id=public_id).first())


def delivery_for_update(delivery_id: int) -> tuple[WebhookEndpoint, WebhookDelivery]:
    """A delivery after its endpoint, whatever state that is in."""
    endpoint_id = WebhookDelivery.objects.values_list("endpoint_id", flat=True).get(pk=delivery_id)
    endpoint = _endpoint(endpoint_id)
    return endpoint, mark(WebhookDelivery.objects.select_for_update(of=("self",)).get(pk=delivery_id))


@contextmanager
def only_webhook_sender() -> Iterator[bool]:
    """True for one worker at a time, until the block ends; no transaction is open meanwhile (advisory, of the session).

    It bounds how many workers receivers that hang can hold up: one. A worker that is killed loses its connection, and
    with that the lock.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_SENDER])
        taken = bool(cursor.fetchone()[0])
    try:
        yield taken
    finally:
        if taken:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_SENDER])


def _endpoint(endpoint_id: int) -> WebhookEndpoint:
    rows = WebhookEndpoint.objects.select_for_update(of=("self",)).select_related("partner")
    return mark(rows.get(pk=endpoint_id))


def _living(found: WebhookEndpoint | None) -> WebhookEndpoint:
    endpoint = None if found is None else _endpoint(found.pk)
    if endpoint is None or endpoint.status == WebhookEndpoint.Status.DELETED:
        raise NotFound(code="not_found", message=_("There is no such webhook endpoint."))
    return endpoint
