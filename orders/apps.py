"""Orders: quotes, their signature, orders and their way."""

from django.apps import AppConfig


class OrdersConfig(AppConfig):
    name = "orders"
