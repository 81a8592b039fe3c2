"""The least that a page can be: two queries and a template that is plain text, under the shop's own middleware."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from anchorgpu.urls import urlpatterns as shop_urlpatterns
from catalog.models import Accelerator, PriceVersion


def bare_page(request: HttpRequest, name: str) -> HttpResponse:
    """A template of that name, written by the measurement."""
    version = PriceVersion.objects.order_by("-number").first()
    accelerator = Accelerator.objects.filter(slug="b200-180").first()
    return render(request, f"{name}.html", {"version": version, "accelerator": accelerator})


urlpatterns = [path("bench/bare/<slug:name>/", bare_page, name="bare_page"), *shop_urlpatterns]
