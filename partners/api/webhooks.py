"""Webhook endpoints of the partner whose key it is, what was sent to them, and the buttons of both."""

import re
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.errors import NotFound
from partners.api import pagination
from partners.api.base import ApiView
from partners.api.callers import partner_of
from partners.api.idempotent import KEY_ACCEPTED, idempotent
from partners.api.orders_request import NothingBody, require_nothing
from partners.api.schema import CURSOR, LIMIT, body_example, example, listed, problems, writing_problems
from partners.api.webhooks_answer import (
    DeliverySerializer,
    EndpointSerializer,
    EndpointWithSecretSerializer,
    MissedSerializer,
    delivery_answer,
    endpoint_answer,
)
from partners.api.webhooks_examples import DELIVERY, ENDPOINT, ENDPOINT_BODY, ENDPOINT_WITH_SECRET
from partners.api.webhooks_request import (
    EndpointBody,
    EndpointChangeBody,
    endpoint_changes,
    endpoint_values,
)
from partners.models import ApiKey, WebhookDelivery, WebhookEndpoint
from partners.scopes import Scope
from partners.services.change_endpoint import add_endpoint, change_endpoint, delete_endpoint, rotate_secret
from partners.services.pause_endpoint import pause_endpoint, resume_endpoint
from partners.services.redeliver import redeliver, redeliver_missed
from partners.services.send_test_event import send_test_event
from partners.webhook_selectors import deliveries_of, delivery_of, endpoint_of, endpoints_of, tries_of

# Keeps NUL and megabytes away from the database.
_ENDPOINT_ID = re.compile(r"wh_[0-9a-f]{24}")
_DELIVERY_ID = re.compile(r"whd_[0-9a-f]{24}")
_ANY_ENDPOINT, _ANY_DELIVERY = "wh_" + "0" * 24, "whd_" + "0" * 24


class WebhookCall(ApiView):
    """A call about the partner's endpoints."""

    required_scope = Scope.WEBHOOKS

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """What no id can look like is told before anything else is done with it."""
        super().initial(request, *args, **kwargs)
        if not _ENDPOINT_ID.fullmatch(kwargs.get("endpoint_id", _ANY_ENDPOINT)):
            raise _no_endpoint()
        if not _DELIVERY_ID.fullmatch(kwargs.get("delivery_id", _ANY_DELIVERY)):
            raise _no_delivery()

    def own(self, request: Request, endpoint_id: str) -> WebhookEndpoint:
        """Raises NotFound for "none", "deleted" and "not yours" alike."""
        found = endpoint_of(partner_of(request), endpoint_id)
        if found is None:
            raise _no_endpoint()
        return found

    def own_delivery(self, endpoint: WebhookEndpoint, delivery_id: str) -> WebhookDelivery:
        found = delivery_of(endpoint, delivery_id)
        if found is None:
            raise _no_delivery()
        return found


def _no_endpoint() -> NotFound:
    return NotFound(code="not_found", message=_("There is no such webhook endpoint."))


def _no_delivery() -> NotFound:
    return NotFound(code="not_found", message=_("There is no such delivery."))


def actor_of(request: Request) -> str:
    """Who it was, for the audit."""
    return f"key:{request.auth.prefix}" if isinstance(request.auth, ApiKey) else ""


class EndpointsView(WebhookCall):
    """All of them, and a new one."""

    parameters = pagination.PARAMETERS

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """The address is looked up before the idempotency key opens its transaction."""
        super().initial(request, *args, **kwargs)
        self.values = endpoint_values(request.data) if request.method == "POST" else {}

    @extend_schema(
        operation_id="list_webhook_endpoints",
        tags=["webhooks"],
        summary="Your webhook endpoints, the oldest first",
        parameters=[LIMIT, CURSOR],
        responses={200: listed("EndpointList", EndpointSerializer), **problems(403)},
        examples=[example({"data": [ENDPOINT], "next_cursor": None})],
    )
    def get(self, request: Request) -> Response:
        found = endpoints_of(partner_of(request))
        rows, next_cursor = pagination.keyset(
            request,
            lambda last, limit: list(found.filter(pk__gt=last or 0)[:limit]),
            key=lambda row: row.pk,
        )
        return Response({"data": [endpoint_answer(row) for row in rows], "next_cursor": next_cursor})

    @extend_schema(
        operation_id="add_webhook_endpoint",
        tags=["webhooks"],
        summary="Hear of events by webhook",
        description="It hears what happens from now on. The answer holds the secret, which is never shown again.",
        parameters=[KEY_ACCEPTED],
        request=EndpointBody,
        responses={201: EndpointWithSecretSerializer, **writing_problems(422)},
        examples=[body_example(ENDPOINT_BODY), example(ENDPOINT_WITH_SECRET, status=201)],
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        partner = partner_of(request)
        made = add_endpoint(partner_id=partner.pk, actor=actor_of(request), **self.values)
        place = {"Location": f"/api/v1/webhook-endpoints/{made.public_id}"}
        return Response(endpoint_answer(made, with_secret=True), status=201, headers=place)


class EndpointView(WebhookCall):
    """One endpoint."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.changes = endpoint_changes(request.data) if request.method == "PATCH" else {}

    @extend_schema(
        operation_id="read_webhook_endpoint",
        tags=["webhooks"],
        summary="One endpoint and whether it fails",
        responses={200: EndpointSerializer, **problems(403, 404)},
        examples=[example(ENDPOINT)],
    )
    def get(self, request: Request, endpoint_id: str) -> Response:
        return Response(endpoint_answer(self.own(request, endpoint_id)))

    @extend_schema(
        operation_id="change_webhook_endpoint",
        tags=["webhooks"],
        summary="Change, pause or resume an endpoint",
        request=EndpointChangeBody,
        responses={200: EndpointSerializer, **writing_problems(422)},
        examples=[body_example({"status": "paused"}), example(ENDPOINT | {"status": "paused"})],
    )
    def patch(self, request: Request, endpoint_id: str) -> Response:
        found, actor = self.own(request, endpoint_id), actor_of(request)
        changes = dict(self.changes)
        status = changes.pop("status", found.status)
        with transaction.atomic():
            if changes:
                found = change_endpoint(endpoint_id=found.pk, actor=actor, **changes)
            if status != found.status:
                is_pause = status == WebhookEndpoint.Status.PAUSED
                found = (pause_endpoint if is_pause else resume_endpoint)(endpoint_id=found.pk, actor=actor)
        return Response(endpoint_answer(found))

    @extend_schema(
        operation_id="delete_webhook_endpoint",
        tags=["webhooks"],
        summary="Delete an endpoint",
        description="Nothing more is sent to it. Its log stays with us and cannot be read any more.",
        responses={204: None, **problems(403, 404)},
    )
    def delete(self, request: Request, endpoint_id: str) -> Response:
        delete_endpoint(endpoint_id=self.own(request, endpoint_id).pk, actor=actor_of(request))
        return Response(status=204)


class SecretView(WebhookCall):
    """Another secret."""

    @extend_schema(
        operation_id="rotate_webhook_secret",
        tags=["webhooks"],
        summary="Rotate the secret of an endpoint",
        description="For 24 hours deliveries are signed with the new and the former secret.",
        parameters=[KEY_ACCEPTED],
        request=NothingBody,
        responses={200: EndpointWithSecretSerializer, **writing_problems()},
        examples=[example(ENDPOINT_WITH_SECRET)],
    )
    @idempotent()
    def post(self, request: Request, endpoint_id: str) -> Response:
        require_nothing(request.data)
        found = rotate_secret(endpoint_id=self.own(request, endpoint_id).pk, actor=actor_of(request))
        return Response(endpoint_answer(found, with_secret=True))


class TestEventView(WebhookCall):
    """Whether we are heard."""

    @extend_schema(
        operation_id="send_test_event",
        tags=["webhooks"],
        summary="Send a test event",
        description="An event of the type webhook.test. It is tried once, soon; its delivery says what came of it.",
        parameters=[KEY_ACCEPTED],
        request=NothingBody,
        responses={202: DeliverySerializer, **writing_problems()},
        examples=[example(DELIVERY, status=202)],
    )
    @idempotent()
    def post(self, request: Request, endpoint_id: str) -> Response:
        require_nothing(request.data)
        row = send_test_event(endpoint_id=self.own(request, endpoint_id).pk, actor=actor_of(request))
        return Response(delivery_answer(row, []), status=202)


class DeliveriesView(WebhookCall):
    """The log of an endpoint."""

    parameters = pagination.PARAMETERS

    @extend_schema(
        operation_id="list_webhook_deliveries",
        tags=["webhooks"],
        summary="What was sent to an endpoint, the newest first",
        parameters=[LIMIT, CURSOR],
        responses={200: listed("DeliveryList", DeliverySerializer), **problems(403, 404)},
        examples=[example({"data": [DELIVERY], "next_cursor": None})],
    )
    def get(self, request: Request, endpoint_id: str) -> Response:
        log = deliveries_of(self.own(request, endpoint_id))
        rows, next_cursor = pagination.keyset(
            request,
            lambda last, limit: list((log if last is None else log.filter(pk__lt=last))[:limit]),
            key=lambda row: row.pk,
        )
        tries = tries_of(rows)
        return Response(
            {"data": [delivery_answer(row, tries[row.pk]) for row in rows], "next_cursor": next_cursor}
        )


class RedeliverView(WebhookCall):
    """One message again."""

    @extend_schema(
        operation_id="redeliver_webhook",
        tags=["webhooks"],
        summary="Send one delivery again",
        description="The same bytes with the same webhook-id, at once and with all retries anew. Later events of the "
        "order do not wait for it.",
        parameters=[KEY_ACCEPTED],
        request=NothingBody,
        responses={202: DeliverySerializer, **writing_problems()},
        examples=[example(DELIVERY, status=202)],
    )
    @idempotent()
    def post(self, request: Request, endpoint_id: str, delivery_id: str) -> Response:
        require_nothing(request.data)
        found = self.own_delivery(self.own(request, endpoint_id), delivery_id)
        row = redeliver(delivery_id=found.pk, actor=actor_of(request))
        return Response(delivery_answer(row, tries_of([row])[row.pk]), status=202)


class RedeliverMissedView(WebhookCall):
    """All that was given up."""

    @extend_schema(
        operation_id="redeliver_missed_webhooks",
        tags=["webhooks"],
        summary="Send again all that was given up",
        description="Oldest first and in order; also what happened while the endpoint was paused.",
        parameters=[KEY_ACCEPTED],
        request=NothingBody,
        responses={202: MissedSerializer, **writing_problems()},
        examples=[example({"count": 12}, status=202)],
    )
    @idempotent()
    def post(self, request: Request, endpoint_id: str) -> Response:
        require_nothing(request.data)
        count = redeliver_missed(endpoint_id=self.own(request, endpoint_id).pk, actor=actor_of(request))
        return Response({"count": count}, status=202)
