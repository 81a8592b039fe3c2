"""Addresses of the API. Each call answers with and without the trailing slash alike."""

from django.urls import URLPattern, path, re_path
from django.views import View

from partners.api import availability, docs, event_lists, orders, plans, quotes, views, webhooks


def both(route: str, view: type[View], name: str) -> list[URLPattern]:
    """One call under two spellings: a redirect would turn a POST into a GET."""
    handler = view.as_view()
    return [path(route, handler, name=name), path(f"{route}/", handler, name=f"{name}-slash")]


_ENDPOINT = "v1/webhook-endpoints/<str:endpoint_id>"

urlpatterns = [
    *both("v1", views.RootView, "api-root"),
    *both("v1/accelerators", views.AcceleratorsView, "api-accelerators"),
    *both("v1/accelerators/<str:slug>", views.AcceleratorView, "api-accelerator"),
    *both("v1/lots", views.LotsView, "api-lots"),
    *both("v1/availability", availability.AvailabilityView, "api-availability"),
    *both("v1/plans", plans.PlansView, "api-plans"),
    *both("v1/quotes", quotes.QuotesView, "api-quotes"),
    *both("v1/quotes/<str:quote_id>", quotes.QuoteView, "api-quote"),
    *both("v1/orders", orders.OrdersView, "api-orders"),
    *both("v1/orders/<str:order_id>", orders.OrderView, "api-order"),
    *both("v1/orders/<str:order_id>/payment-claims", orders.PaymentClaimsView, "api-payment-claims"),
    *both("v1/orders/<str:order_id>/cancel", orders.CancelView, "api-cancel"),
    *both("v1/orders/<str:order_id>/early-end", orders.EarlyEndView, "api-early-end"),
    *both("v1/orders/<str:order_id>/extensions", orders.ExtensionsView, "api-extensions"),
    *both("v1/orders/<str:order_id>/access", orders.AccessView, "api-access"),
    *both("v1/orders/<str:order_id>/events", event_lists.OrderEventsView, "api-order-events"),
    *both("v1/events", event_lists.EventsView, "api-events"),
    *both("v1/webhook-endpoints", webhooks.EndpointsView, "api-webhook-endpoints"),
    *both(_ENDPOINT, webhooks.EndpointView, "api-webhook-endpoint"),
    *both(f"{_ENDPOINT}/rotate-secret", webhooks.SecretView, "api-webhook-secret"),
    *both(f"{_ENDPOINT}/test", webhooks.TestEventView, "api-webhook-test"),
    *both(f"{_ENDPOINT}/deliveries", webhooks.DeliveriesView, "api-webhook-deliveries"),
    *both(f"{_ENDPOINT}/redeliver-missed", webhooks.RedeliverMissedView, "api-webhook-redeliver-missed"),
    *both(
        f"{_ENDPOINT}/deliveries/<str:delivery_id>/redeliver",
        webhooks.RedeliverView,
        "api-webhook-redeliver",
    ),
    *both("v1/openapi.json", views.DocumentView, "api-document"),
    path("docs/", docs.DocsView.as_view(), name="api-docs"),
    path("docs/errors/", docs.error_page, name="api-docs-errors"),
    re_path(r"^v1/.*$", views.UnknownView.as_view(), name="api-unknown"),
]
