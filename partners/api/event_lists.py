"""The append-only log, as a partner may read it: of one order, and of all of his."""

import re
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.errors import Invalid
from core.models import Event
from partners.api import pagination, query
from partners.api.base import ApiView
from partners.api.callers import partner_of
from partners.api.orders_examples import EVENT
from partners.api.schema import CURSOR, LIMIT, example, listed, problems, text
from partners.event_shape import event_shape
from partners.events import events_after, events_of_order_after
from partners.models import PartnerOrder
from partners.scopes import Scope
from partners.selectors import own_order

# Of the numbers that a bigint holds.
_ID_FORM = "evt_[0-9]{12,18}"
_EVENT_ID = re.compile(_ID_FORM)
AFTER = OpenApiParameter(
    "after",
    text(pattern=rf"^{_ID_FORM}$"),
    description="Only events behind this one: the `id` of the last one that you have seen.",
)


class EventSerializer(serializers.Serializer[Any]):
    """One fact. The same shape is sent to webhooks; `id` is the same there and tells a repetition."""

    id = serializers.CharField()
    type = serializers.CharField(
        help_text="Such as order.paid. More names may come: skip what you do not know."
    )
    at = serializers.DateTimeField()
    order = serializers.CharField()
    data = serializers.DictField()  # type: ignore[assignment]


class EventsView(ApiView):
    """Events of all orders."""

    required_scope = Scope.ORDERS_READ
    parameters = ("after", *pagination.PARAMETERS)

    @extend_schema(
        operation_id="list_events",
        tags=["events"],
        summary="What happened to your orders, the oldest first",
        description="None is skipped and none comes twice, whoever goes on with `after` or the cursor. An event is "
        "listed about two seconds after it happened.",
        parameters=[AFTER, LIMIT, CURSOR],
        responses={200: listed("EventList", EventSerializer), **problems(403)},
        examples=[example({"data": [EVENT], "next_cursor": None})],
    )
    def get(self, request: Request) -> Response:
        return _listed(request, None)


class OrderEventsView(ApiView):
    """Events of one order."""

    required_scope = Scope.ORDERS_READ
    parameters = ("after", *pagination.PARAMETERS)

    @extend_schema(
        operation_id="list_order_events",
        tags=["events"],
        summary="What happened to one order, the oldest first",
        parameters=[AFTER, LIMIT, CURSOR],
        responses={200: listed("OrderEventList", EventSerializer), **problems(403, 404)},
        examples=[example({"data": [EVENT], "next_cursor": None})],
    )
    def get(self, request: Request, order_id: str) -> Response:
        return _listed(request, own_order(partner=partner_of(request), order_id=order_id))


def _listed(request: Request, owned: PartnerOrder | None) -> Response:
    partner, first = partner_of(request), _after(request)

    def read(last: int | None, limit: int) -> Sequence[Event]:
        after = first if last is None else last
        if owned is None:
            return events_after(partner=partner, after=after, limit=limit)
        return events_of_order_after(owned=owned, after=after, limit=limit)

    rows, next_cursor = pagination.keyset(request, read, key=lambda event: event.pk)
    return Response({"data": [event_shape(event) for event in rows], "next_cursor": next_cursor})


def _after(request: Request) -> int:
    """A place in the log; whose event stands there is not asked, so that it tells nothing. Raises Invalid."""
    value = query.text(request, "after")
    if value is None:
        return 0
    found = _EVENT_ID.fullmatch(value)
    if found is None:
        raise Invalid(
            code="invalid_event_id",
            message=_("This is no id of an event, such as evt_000000000123."),
            field="after",
        )
    return int(found[0].removeprefix("evt_"))
