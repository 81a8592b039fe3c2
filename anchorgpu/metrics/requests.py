"""How long requests took, by the name of their view: an address may hold a secret, a name never does.

Each web process counts by itself; where PROMETHEUS_MULTIPROC_DIR is set (anchorgpu.web) their counts lie in files of
that folder and a scrape adds them up, whichever process answers it.
"""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from prometheus_client import Histogram

GetResponse = Callable[[HttpRequest], HttpResponse]

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# From a page out of memory (2 ms) to the gateway's own time limit (30 s).
BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

SECONDS = Histogram(
    "anchorgpu_http_request_duration_seconds",
    "Time from the first byte that the application sees to its finished answer.",
    ["view", "method", "status"],
    buckets=BUCKETS,
)


class MeasureMiddleware:
    """First of all, so that what others refuse is counted too."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = self.get_response(request)
        SECONDS.labels(
            view=_view(request),
            method=request.method if request.method in METHODS else "other",
            status=f"{response.status_code // 100}xx",
        ).observe(time.perf_counter() - started)
        return response


def _view(request: HttpRequest) -> str:
    """Its name, or that of its function; bounded by the number of views whatever is asked for."""
    match = request.resolver_match
    if match is None:
        return "none"
    return match.view_name or match._func_path
