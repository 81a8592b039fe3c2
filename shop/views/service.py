"""Addresses for machines: health, readiness, the keys that verify a quote."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from orders.signing import public_key_set
from shop.readiness import readiness


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers; nothing else is asked."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when the shop can sell (ready or degraded), 503 with the part named when it cannot."""
    report = readiness()
    return JsonResponse(report, status=503 if report["status"] == "unready" else 200)


@require_safe
def quote_keys(request: HttpRequest) -> HttpResponse:
    """The JWK set; it may be kept for five minutes and read from anywhere."""
    response = JsonResponse(public_key_set(), content_type="application/jwk-set+json")
    response["Cache-Control"] = "public, max-age=300"
    response["Access-Control-Allow-Origin"] = "*"
    return response
