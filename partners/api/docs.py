"""Pages for the partner's developer: the document in a viewer of our own server, and what each code means."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView

from partners.api.problems import CODES_BY_STATUS, DETAILS


@extend_schema(exclude=True)
class DocsView(SpectacularSwaggerSplitView):
    """Open to everybody, like the document itself."""

    template_name = "partners/docs.html"
    url_name = "api-document"
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()


@require_safe
def error_page(request: HttpRequest) -> HttpResponse:
    """The page to which `type` of every problem leads."""
    rows: list[dict[str, Any]] = [
        {"status": status, "code": code, "detail": DETAILS[code]} for status, code in CODES_BY_STATUS.items()
    ]
    return render(request, "partners/errors.html", {"rows": rows})
