"""Answers about webhook endpoints and their deliveries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rest_framework import serializers

from partners.models import DeliveryAttempt, WebhookDelivery, WebhookEndpoint

_STATES = (WebhookEndpoint.Status.ACTIVE.value, WebhookEndpoint.Status.PAUSED.value)


class EndpointSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField(), help_text="Empty: all.")
    note = serializers.CharField()
    status = serializers.ChoiceField(choices=_STATES)
    created_at = serializers.DateTimeField()
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="Null: the last delivery got through."
    )
    paused_at = serializers.DateTimeField(allow_null=True)


class EndpointWithSecretSerializer(EndpointSerializer):
    """The only two answers with the secret: when it is made and when it is rotated."""

    secret = serializers.CharField(help_text="whsec_...: verify with it. It is never shown again.")


class AttemptSerializer(serializers.Serializer[Any]):
    """What came back; the body of the answer is not kept."""

    at = serializers.DateTimeField()
    duration_ms = serializers.IntegerField()
    status_code = serializers.IntegerField(allow_null=True, help_text="Null: there was no answer.")
    error = serializers.CharField(help_text="Empty where there was an answer.")


class DeliverySerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    event = serializers.CharField(help_text="The id of the event, which is webhook-id too.")
    type = serializers.CharField()
    status = serializers.ChoiceField(choices=WebhookDelivery.Status.values)
    attempts = serializers.IntegerField(help_text="Since it was made or redelivered.")
    created_at = serializers.DateTimeField()
    next_attempt_at = serializers.DateTimeField(allow_null=True, help_text="Null: there will be none.")
    delivered_at = serializers.DateTimeField(allow_null=True)
    tries = AttemptSerializer(many=True)


class MissedSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField(help_text="How many are sent again; 1000 at most in one call.")


def endpoint_answer(endpoint: WebhookEndpoint, *, with_secret: bool = False) -> dict[str, Any]:
    found = {
        "id": endpoint.public_id,
        "url": endpoint.url,
        "events": endpoint.events,
        "note": endpoint.note,
        "status": endpoint.status,
        "created_at": _time(endpoint.created_at),
        "failing_since": _time(endpoint.failing_since),
        "paused_at": _time(endpoint.paused_at),
    }
    return found | {"secret": endpoint.secret} if with_secret else found


def delivery_answer(row: WebhookDelivery, tries: Sequence[DeliveryAttempt]) -> dict[str, Any]:
    waits = row.status == WebhookDelivery.Status.PENDING
    return {
        "id": row.public_id,
        "event": row.message_id,
        "type": row.event_name,
        "status": row.status,
        "attempts": row.attempts,
        "created_at": _time(row.made_at),
        "next_attempt_at": _time(row.next_at) if waits else None,
        "delivered_at": _time(row.delivered_at),
        "tries": [
            {
                "at": _time(one.at),
                "duration_ms": one.duration_ms,
                "status_code": one.status_code,
                "error": one.error,
            }
            for one in tries
        ],
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
