"""How the admin looks: its name, and the notice that delivery is simulated on every page of it."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


def environment(request: HttpRequest) -> list[str] | None:
    """The label in the head of each page."""
    return [_("Delivery is simulated"), "warning"] if settings.PROVIDER == "simulated" else None


def favicon(request: HttpRequest) -> str:
    return static("icons/favicon.svg")


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "AnchorGPU",
    "SITE_HEADER": "AnchorGPU",
    "SITE_URL": "/",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": favicon}],
    "ENVIRONMENT": "anchorgpu.desk.environment",
    "ACCOUNT": {
        "navigation": [
            {"title": gettext_lazy("Signed in"), "link": reverse_lazy("desk:security")},
            {"title": gettext_lazy("Change password"), "link": reverse_lazy("admin:password_change")},
        ]
    },
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SIDEBAR": {"show_search": True, "show_all_applications": True},
}
