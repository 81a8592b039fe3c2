"""A node and its cards from the shell: how machines come into the fleet where no cluster lists them."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.models.accelerator import HostArch
from core.errors import Refusal
from fleet.services.add_node import add_node

ACTOR = "add_node"


class Command(BaseCommand):
    help = (
        "Adds a node with its cards; they are on sale at once, with --out-of-service when staff put them in."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the node, such as h100-01")
        parser.add_argument("--site", required=True, help="where it stands")
        parser.add_argument("--accelerator", required=True, help="as the catalogue names it: h100-sxm-80")
        parser.add_argument("--serials", required=True, nargs="+", help="of its cards, in their order")
        parser.add_argument("--driver", required=True, help="version of the driver, such as 580.95.05")
        parser.add_argument("--host-arch", choices=HostArch.values, default=HostArch.X86_64.value)
        parser.add_argument("--topology", default="", help="how the cards are linked; a remark")
        parser.add_argument("--stack", default="", help="version of the stack; a remark")
        parser.add_argument("--out-of-service", action="store_true", help="not on sale yet")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            node = add_node(
                name=options["name"],
                site=options["site"],
                accelerator=options["accelerator"],
                host_arch=options["host_arch"],
                driver_version=options["driver"],
                topology=options["topology"],
                stack_version=options["stack"],
                serials=options["serials"],
                in_service=not options["out_of_service"],
                actor=ACTOR,
            )
        except Refusal as refusal:
            raise CommandError(f"{refusal.code}: {refusal.text}") from refusal
        self.stdout.write(f"{node.name}: {len(options['serials'])} cards of {options['accelerator']}")
