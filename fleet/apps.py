"""Fleet: machines, holds, leases and access. Knows neither prices nor buyers."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "fleet"
