"""Addresses of the API. Each call answers with and without the trailing slash alike."""

from django.urls import URLPattern, path, re_path
from django.views import View

from partners.api import availability, docs, plans, views


def both(route: str, view: type[View], name: str) -> list[URLPattern]:
    """One call under two spellings: a redirect would turn a POST into a GET."""
    handler = view.as_view()
    return [path(route, handler, name=name), path(f"{route}/", handler, name=f"{name}-slash")]


urlpatterns = [
    *both("v1", views.RootView, "api-root"),
    *both("v1/accelerators", views.AcceleratorsView, "api-accelerators"),
    *both("v1/accelerators/<str:slug>", views.AcceleratorView, "api-accelerator"),
    *both("v1/lots", views.LotsView, "api-lots"),
    *both("v1/availability", availability.AvailabilityView, "api-availability"),
    *both("v1/plans", plans.PlansView, "api-plans"),
    *both("v1/openapi.json", views.DocumentView, "api-document"),
    path("docs/", docs.DocsView.as_view(), name="api-docs"),
    path("docs/errors/", docs.error_page, name="api-docs-errors"),
    re_path(r"^v1/.*$", views.UnknownView.as_view(), name="api-unknown"),
]
