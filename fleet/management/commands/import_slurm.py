"""Reads nodes, cards and states of the Slurm cluster into the fleet: a difference first, written with --apply."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fleet.providers.base import ProviderError
from fleet.providers.slurm.inventory import ListedNode, listed_nodes
from fleet.services.import_slurm import Change, NewNodes, What, apply, changes


class Command(BaseCommand):
    help = "Shows how the fleet differs from the Slurm cluster (docs/slurm.md); --apply writes it down."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--apply", action="store_true", help="write what is shown; without it nothing is written"
        )
        parser.add_argument("--site", default="", help="where new nodes stand")
        parser.add_argument("--driver", default="", help="driver version of new nodes, such as 580.95.05")

    def handle(self, *args: Any, **options: Any) -> None:
        listed = _ask()
        found = changes(listed)
        for change in found:
            self._say(change)
        if not found:
            self.stdout.write(_("The fleet is what the cluster has."))
        refused = [change for change in found if change.what == What.REFUSED]
        if options["apply"]:
            refused += self._apply(listed, found, options)
        elif found:
            self.stdout.write(_("Nothing was written; --apply does it."))
        if refused:
            raise CommandError(
                ngettext("%(count)s node cannot be sold.", "%(count)s nodes cannot be sold.", len(refused))
                % {"count": len(refused)}
            )

    def _apply(self, listed: list[ListedNode], found: list[Change], options: dict[str, Any]) -> list[Change]:
        if any(change.what == What.ADD for change in found) and not (options["site"] and options["driver"]):
            raise CommandError(_("New nodes need --site and --driver. Nothing was written."))
        refused = apply(listed, new=NewNodes(site=options["site"], driver_version=options["driver"]))
        for change in refused:
            self._say(change)
        self.stdout.write(_("Written."))
        return refused

    def _say(self, change: Change) -> None:
        self.stdout.write(f"{change.what:<9} {change.node}: {change.why}")


def _ask() -> list[ListedNode]:
    if settings.PROVIDER != "slurm":
        raise CommandError(_("PROVIDER is not slurm."))
    try:
        return listed_nodes()
    except ProviderError as error:
        raise CommandError(error.reason) from error
