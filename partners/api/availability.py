"""Free lots by day: what can start when, without a promise; an order looks again and then holds."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Lot
from catalog.selectors import lot_offer
from core import clock
from core.errors import Invalid
from fleet.availability import HORIZON_DAYS, availability
from partners.api import query
from partners.api.base import ApiView
from partners.api.schema import example, problems, text, whole

T = TypeVar("T")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MAX_LOTS = 1000
MAX_DAYS = 1000
DEFAULT_SPAN = timedelta(days=27)

AVAILABILITY: dict[str, Any] = {
    "lot": "b200-180x2",
    "lots": 1,
    "days": 3,
    "as_of": "2026-12-01T09:00:00Z",
    "earliest_start": "2026-12-01T09:00:00Z",
    "free": [
        {"day": "2026-12-01", "free_lots": 4, "start_at": "2026-12-01T09:00:00Z", "offered": True},
    ],
}


class DayFreeSerializer(serializers.Serializer[Any]):
    day = serializers.DateField(help_text="A day in UTC.")
    free_lots = serializers.IntegerField(
        help_text="The most lots that can start at one moment of this day and stay for the whole term."
    )
    start_at = serializers.DateTimeField(
        allow_null=True, help_text="The first such moment. Null: nothing is free on this day."
    )
    offered = serializers.BooleanField(help_text="False: so far ahead no start is sold yet.")


class AvailabilitySerializer(serializers.Serializer[Any]):
    """A look without a lock. Only an order holds cards."""

    lot = serializers.CharField()
    lots = serializers.IntegerField()
    days = serializers.IntegerField()
    as_of = serializers.DateTimeField(help_text="When this was read.")
    earliest_start = serializers.DateTimeField(
        allow_null=True, help_text="As early as `as_of`: at once. Null: not within the offered days."
    )
    free = DayFreeSerializer(many=True)


class AvailabilityView(ApiView):
    """Free lots of one kind by day."""

    parameters = ("lot", "lots", "days", "from", "to")

    @extend_schema(
        operation_id="read_availability",
        tags=["catalogue"],
        summary="Free lots by day and the earliest start",
        parameters=[
            OpenApiParameter("lot", text(), required=True, description="Id of a lot on sale."),
            OpenApiParameter("lots", whole(1, MAX_LOTS, default=1), description="How many lots must fit."),
            OpenApiParameter("days", whole(1, MAX_DAYS), required=True, description="The term."),
            OpenApiParameter("from", date, description="First day, UTC; today where it is not given."),
            OpenApiParameter(
                "to", date, description=f"Last day, up to {HORIZON_DAYS} days ahead; four weeks in all else."
            ),
        ],
        responses={200: AvailabilitySerializer, **problems(422)},
        examples=[example(AVAILABILITY)],
    )
    def get(self, request: Request) -> Response:
        code = _required(query.text(request, "lot"), "lot")
        days = _required(query.integer(request, "days", minimum=1, maximum=MAX_DAYS), "days")
        lots = query.integer(request, "lots", minimum=1, maximum=MAX_LOTS) or 1
        today = clock.now().astimezone(UTC).date()
        from_day = _day(request, "from") or today
        # Cut before it is added to: the calendar ends with the year 9999.
        last_begin = today + timedelta(days=HORIZON_DAYS) - DEFAULT_SPAN
        to_day = _day(request, "to") or min(from_day, last_begin) + DEFAULT_SPAN
        offer = lot_offer(lot=code, days=days)
        lot = Lot.objects.select_related("accelerator").get(code=offer.lot_code)
        found = availability(
            lot=lot,
            lots=lots,
            term_days=days,
            from_day=from_day,
            to_day=to_day,
            driver_minimum=lot.accelerator.driver_minimum or "",
        )
        body = {
            "lot": offer.lot_code,
            "lots": lots,
            "days": days,
            "as_of": _whole_second(found.as_of),
            "earliest_start": _whole_second(found.earliest_start) if found.earliest_start else None,
            "free": [
                replace(row, start_at=_whole_second(row.start_at) if row.start_at else None)
                for row in found.days
            ],
        }
        return Response(AvailabilitySerializer(body).data)


def _required(value: T | None, name: str) -> T:
    if value is None:
        raise Invalid(code="required", message=_("This parameter has no value."), field=name)
    return value


def _day(request: Request, name: str) -> date | None:
    """A day as YYYY-MM-DD. Raises Invalid(invalid_date)."""
    value = query.text(request, name)
    if value is None:
        return None
    try:
        # The library alone reads weeks and days without hyphens too.
        found = date.fromisoformat(value) if _DAY.fullmatch(value) else None
    except ValueError:
        found = None
    if found is None:
        raise Invalid(code="invalid_date", message=_("This must be a day such as 2026-12-31."), field=name)
    return found


def _whole_second(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(microsecond=0)
