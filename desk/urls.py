"""Addresses of the desk, below /admin/ beside the tables of the stock admin."""

from django.urls import path

from desk.views import queue

app_name = "desk"

urlpatterns = [
    path("", queue.queue, name="queue"),
]
