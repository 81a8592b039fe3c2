"""Billing: checkout, payment requests, chain facts, what is due."""

from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "billing"
