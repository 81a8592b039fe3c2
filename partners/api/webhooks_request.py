"""Bodies of the calls about webhook endpoints."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from core.errors import Invalid
from core.outward_target import MAX_URL
from partners.api.body import Body, read
from partners.models import WebhookEndpoint
from partners.services.change_endpoint import MAX_NOTE, checked_url

_EVENTS_HELP = "Names of events; empty: all. A name that there is not is refused."
_URL_HELP = "https:// and a public name, port 443 or 8443."
_STATES = (WebhookEndpoint.Status.ACTIVE.value, WebhookEndpoint.Status.PAUSED.value)


class EndpointBody(Body):
    """Where events go."""

    url = serializers.CharField(max_length=MAX_URL, help_text=_URL_HELP)
    events = serializers.ListField(
        child=serializers.CharField(max_length=60), default=list, max_length=100, help_text=_EVENTS_HELP
    )
    note = serializers.CharField(
        max_length=MAX_NOTE, default="", allow_blank=True, help_text="For yourselves."
    )


class EndpointChangeBody(Body):
    """What is left out stays; at least one field."""

    url = serializers.CharField(max_length=MAX_URL, required=False, help_text=_URL_HELP)
    events = serializers.ListField(
        child=serializers.CharField(max_length=60), required=False, max_length=100, help_text=_EVENTS_HELP
    )
    note = serializers.CharField(max_length=MAX_NOTE, required=False, allow_blank=True)
    status = serializers.ChoiceField(
        choices=_STATES, required=False, help_text="paused: nothing is sent; active: resume."
    )


_ENDPOINT, _CHANGE = EndpointBody(), EndpointChangeBody()


def endpoint_values(data: Any) -> dict[str, Any]:
    """Asks the name server: not in a transaction. Raises InvalidBody and what checked_url raises."""
    return _with_url(read(_ENDPOINT, data))


def endpoint_changes(data: Any) -> dict[str, Any]:
    """The same for a change. Raises Invalid(required) for a body without a field."""
    values = read(_CHANGE, data)
    if not values:
        raise Invalid(code="required", message=_("Name at least one field to change."))
    return _with_url(values)


def _with_url(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"url": checked_url(values["url"])} if "url" in values else values
