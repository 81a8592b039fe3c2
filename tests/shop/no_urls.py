"""A site without any page: the layout must still render, as it does on an error page of a broken start."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
