"""Core: what every app stands on and that knows none of them."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"
