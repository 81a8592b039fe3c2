"""The calls that exist: the root, the catalogue, the document, and the answer for everything else."""

from typing import Any

from django.conf import settings
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing.offers import crypto_offers
from catalog.selectors import CatalogueEntry, catalogue, lots_on_sale
from core.errors import NotFound
from core.version import VERSION
from partners.api import pagination, query
from partners.api.base import ApiView
from partners.api.examples import ACCELERATOR, LOT, ROOT
from partners.api.schema import CURSOR, LIMIT, document, example, listed, problems, text, whole
from partners.api.serializers import AcceleratorSerializer, LotSerializer, RootSerializer

MAX_MEMORY_GB = 1_000_000


class RootView(ApiView):
    """Name, version and currency, and whether what is rented here exists."""

    @extend_schema(
        operation_id="root",
        tags=["shop"],
        summary="What this shop is",
        responses={200: RootSerializer, **problems()},
        examples=[example(ROOT)],
    )
    def get(self, request: Request) -> Response:
        simulated = settings.PROVIDER == "simulated"
        notice = (
            _("Allocation of GPUs and access to them are simulated on this machine.") if simulated else None
        )
        return Response(
            RootSerializer(
                {
                    "name": "AnchorGPU",
                    "version": VERSION,
                    "currency": settings.CURRENCY,
                    "simulated": simulated,
                    "notice": notice,
                    "terms_version": settings.TERMS_VERSION,
                    "pay_with": [
                        {"rail": "crypto", "network": offer.network.slug, "asset": offer.asset.symbol}
                        for offer in crypto_offers()
                    ],
                }
            ).data
        )


class AcceleratorsView(ApiView):
    """Every accelerator, on sale or not, with the sources of its specifications."""

    parameters = pagination.PARAMETERS

    @extend_schema(
        operation_id="list_accelerators",
        tags=["catalogue"],
        summary="All accelerators, small memory first",
        parameters=[LIMIT, CURSOR],
        responses={200: listed("AcceleratorList", AcceleratorSerializer), **problems()},
        examples=[example({"data": [ACCELERATOR], "next_cursor": None})],
    )
    def get(self, request: Request) -> Response:
        rows, next_cursor = pagination.page(request, catalogue(), key=lambda entry: entry.accelerator.slug)
        return Response({"data": AcceleratorSerializer(rows, many=True).data, "next_cursor": next_cursor})


class AcceleratorView(ApiView):
    """The specifications of one accelerator."""

    @extend_schema(
        operation_id="read_accelerator",
        tags=["catalogue"],
        summary="One accelerator",
        parameters=[OpenApiParameter("slug", str, OpenApiParameter.PATH, description="Such as b200-180.")],
        responses={200: AcceleratorSerializer, **problems(404)},
        examples=[example(ACCELERATOR)],
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(AcceleratorSerializer(_entry(slug)).data)


class LotsView(ApiView):
    """A lot is N cards of one node, sold together. What is withdrawn or has no price is not listed."""

    parameters = ("accelerator", "min_memory_gb", *pagination.PARAMETERS)

    @extend_schema(
        operation_id="list_lots",
        tags=["catalogue"],
        summary="Lots on sale with their prices",
        parameters=[
            OpenApiParameter("accelerator", text(), description="Only lots of this accelerator."),
            OpenApiParameter(
                "min_memory_gb",
                whole(1, MAX_MEMORY_GB),
                description="Only cards with at least so much memory (GB, 10^9 bytes).",
            ),
            LIMIT,
            CURSOR,
        ],
        responses={200: listed("LotList", LotSerializer), **problems()},
        examples=[example({"data": [LOT], "next_cursor": None})],
    )
    def get(self, request: Request) -> Response:
        found = lots_on_sale(
            accelerator=query.text(request, "accelerator"),
            min_memory_gb=query.integer(request, "min_memory_gb", minimum=1, maximum=MAX_MEMORY_GB),
        )
        rows, next_cursor = pagination.page(request, found, key=lambda lot: lot.code)
        return Response({"data": LotSerializer(rows, many=True).data, "next_cursor": next_cursor})


class DocumentView(ApiView):
    """This document."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        return Response(document())


class UnknownView(ApiView):
    """Every other address below the root: the same form of answer, for any method."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise Http404


def _entry(slug: str) -> CatalogueEntry:
    found = next((entry for entry in catalogue() if entry.accelerator.slug == slug), None)
    if found is None:
        raise NotFound(code="not_found", message=_("There is no such accelerator."))
    return found
