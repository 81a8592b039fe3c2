"""For Slurm's ResvProlog and ResvEpilog: a reservation has begun or ended, so the shop looks at once.

It only says where to look: what is so is asked of the controller, and whatever a hook misses the sweeps find.
"""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from core import outbox
from fleet.providers.slurm import config


class Command(BaseCommand):
    help = "Called by Slurm's hooks with the name of a reservation (docs/slurm.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("reservation", help="the name that Slurm gives to the hook")

    def handle(self, *args: Any, reservation: str, **options: Any) -> None:
        if settings.PROVIDER != "slurm":
            return
        if config.from_settings().lease_of(reservation) is None:
            return
        outbox.hint("fleet.sweep_health")
        outbox.hint("fleet.sweep_machines")
