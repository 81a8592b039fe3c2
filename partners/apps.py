"""Partners: who resells through the API, and the API itself."""

from django.apps import AppConfig


class PartnersConfig(AppConfig):
    name = "partners"
