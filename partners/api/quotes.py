"""Quotes: a price that is frozen and signed. They belong to nobody until one is ordered, and hold nothing."""

import re

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core import clock
from core.errors import NotFound
from orders.selectors import quote_by_id
from orders.services.quote import make_quote
from partners.api.base import ApiView
from partners.api.callers import partner_or_none
from partners.api.idempotent import KEY_ACCEPTED, idempotent
from partners.api.orders_answer import quote_answer
from partners.api.orders_examples import QUOTE, QUOTE_BODY
from partners.api.orders_request import QuoteBody, quote_request
from partners.api.orders_shapes import QuoteSerializer
from partners.api.schema import body_example, example, problems

# Keeps NUL and megabytes away from the database.
_QUOTE_ID = re.compile(r"qt_[0-9A-Z]{20,40}")


class QuotesView(ApiView):
    """Ask for a price."""

    @extend_schema(
        operation_id="make_quote",
        tags=["quotes"],
        summary="Freeze and sign a price for 30 minutes",
        description="No key is needed. With one, the bounds of the partner apply in place of those of a browser.",
        parameters=[KEY_ACCEPTED],
        request=QuoteBody,
        responses={201: QuoteSerializer, **problems(409, 413, 415, 422)},
        examples=[body_example(QUOTE_BODY), example(QUOTE, status=201)],
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        with clock.offset_read_once():
            quote = make_quote(quote_request(request.data, partner_or_none(request)))
            answer = quote_answer(quote)
        return Response(answer, status=201, headers={"Location": f"/api/v1/quotes/{quote.public_id}"})


class QuoteView(ApiView):
    """Whoever has the id of a quote may read it: it says what is offered, not to whom."""

    @extend_schema(
        operation_id="read_quote",
        tags=["quotes"],
        summary="One quote and whether it is still open",
        responses={200: QuoteSerializer, **problems(404)},
        examples=[example(QUOTE)],
    )
    def get(self, request: Request, quote_id: str) -> Response:
        quote = quote_by_id(quote_id) if _QUOTE_ID.fullmatch(quote_id) else None
        if quote is None:
            raise NotFound(code="not_found", message=_("There is no such quote."))
        return Response(quote_answer(quote))
