"""A plan over the lots and prices of the catalogue, on the command line."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.selectors import lot_specs
from planner import PlanError, plan, request_from_mapping
from planner.document import as_document
from planner.options import add_options, mapping_from
from planner.report import report


class Command(BaseCommand):
    help = "Memory, time and cost of a run on every lot on sale."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_options(parser)
        parser.add_argument("--lots", default="", metavar="CODES", help="judge these lots only, by comma")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            given = mapping_from(options)
            if options["lots"]:
                given["lots"] = options["lots"].split(",")
            found = plan(request_from_mapping(given), lot_specs())
        except PlanError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(as_document(found)) if options["json"] else report(found), ending="\n")
