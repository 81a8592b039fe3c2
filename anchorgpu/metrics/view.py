"""`/metrics`: for whoever knows the token. It tells how the shop does, so it is closed where no token is set."""

import os

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from anchorgpu.metrics.collector import RowsCollector
from anchorgpu.metrics.requests import SECONDS


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' text form. 404 without the token of METRICS_TOKEN; the demo, which only this machine reaches,
    needs none."""
    if not _may_read(request):
        raise Http404
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(SECONDS)
    registry.register(RowsCollector())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _may_read(request: HttpRequest) -> bool:
    token: str = settings.METRICS_TOKEN
    if not token:
        return bool(settings.DEMO)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return scheme.casefold() == "bearer" and constant_time_compare(given.strip(), token)
