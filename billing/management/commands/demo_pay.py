"""The demo wallet for a program: what the button on the order page does."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from billing.services.demo_pay import request_demo_transfer
from core.errors import Refusal


class Command(BaseCommand):
    help = "Demo only: lets the demo wallet send what an order still lacks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("order", help="id of the order, such as ord_...")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            request_demo_transfer(order_id=options["order"])
        except Refusal as refusal:
            raise CommandError(f"{refusal.code}: {refusal.text}") from refusal
        self.stdout.write("The demo wallet sends the transfer now.")
