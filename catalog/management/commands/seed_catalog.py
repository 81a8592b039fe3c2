"""Load accelerators, lots, terms, prices, options and environments; may be repeated."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext as _

from catalog.services.seed import SeedChange, seed_catalog


class Command(BaseCommand):
    help = "Loads accelerators, lots, terms, prices, options and environments; prints what changed."

    def handle(self, *args: Any, **options: Any) -> None:
        seeded = seed_catalog()
        for change in seeded.changes:
            self.stdout.write(_line(change))
        published = seeded.published
        figures = {
            "number": published.number,
            "lot_prices": published.lot_prices,
            "option_prices": published.option_prices,
        }
        if published.created:
            text = _(
                "Price table %(number)s is published: %(lot_prices)s for lots, %(option_prices)s for options."
            )
        else:
            text = _("Price table %(number)s stands.")
        self.stdout.write(text % figures)
        if not seeded.changes and not published.created:
            self.stdout.write(_("Nothing changed."))


def _line(change: SeedChange) -> str:
    fields = f" ({', '.join(change.fields)})" if change.fields else ""
    return f"{change.kind} {change.code}: {change.action}{fields}"
