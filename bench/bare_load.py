"""All bare views, beside the shop's own addresses, and the least that a look for news can be."""

from hashlib import sha256

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.urls import path

from anchorgpu.urls import urlpatterns as shop_urlpatterns
from bench.bare import TakeOne
from bench.bare_page import bare_page
from bench.bare_quote import Sign
from orders.models import Order


def look(request: HttpRequest, token: str) -> HttpResponse:
    """One row by its key, its state as the tag; nothing is drawn where it is known."""
    order = Order.objects.filter(token=token).first()
    if order is None:
        raise Http404
    tag = f'"{sha256(order.status.encode()).hexdigest()[:16]}"'
    response = (
        HttpResponseNotModified()
        if request.headers.get("If-None-Match") == tag
        else HttpResponse(order.status)
    )
    response["ETag"] = tag
    return response


urlpatterns = [
    path("bench/bare/<slug:name>/", bare_page, name="bare_page"),
    path("bench/sign", Sign.as_view()),
    path("bench/take-one", TakeOne.as_view()),
    path("bench/look/<str:token>/", look),
    *shop_urlpatterns,
]
