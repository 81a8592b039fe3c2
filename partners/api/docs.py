"""Pages for the partner's developer: the document in a viewer of our own server, and what each code means."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView

from partners.api.codes import CODES
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
    general = CODES_BY_STATUS.values()
    rows: list[dict[str, Any]] = [
        {
            "statuses": ", ".join(str(status) for status in found.statuses),
            "code": code,
            "detail": DETAILS[code] if code in general else found.meaning,
            "is_english": code not in general,
        }
        for code, found in sorted(CODES.items(), key=lambda item: (item[1].statuses, item[0]))
    ]
    return render(request, "partners/errors.html", {"rows": rows})
