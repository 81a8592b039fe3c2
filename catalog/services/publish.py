"""Turn the figures into a new price table: the only place where prices are rounded and reach a buyer."""

from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from catalog.locks import price_table_for_update
from catalog.models import LotPrice, OptionPrice
from catalog.price_table import next_table, stored_table
from catalog.selectors import current_price_version
from core.clock import now
from core.errors import Refusal


@dataclass(frozen=True, slots=True)
class Published:
    """`created` is False where the figures equal those of the current table, which then stands."""

    number: int
    created: bool
    lot_prices: int
    option_prices: int


@transaction.atomic
def publish_prices(*, note: str = "", published_by: str = "") -> Published:
    """Make the next price table from the live figures, or leave the current one where nothing changed.

    Locks the right to publish (locks.price_table_for_update). Raises Refusal(nothing_to_publish,
    price_too_small). May be repeated. Open quotes keep the table they were made from.
    """
    price_table_for_update()
    current = current_price_version()
    table = next_table(
        number=current.number + 1 if current else 1,
        published_at=now(),
        figures={},
        note=note,
        published_by=published_by,
    )
    if not table.lots:
        raise Refusal(code="nothing_to_publish", message=_("No lot has a price and a term."))
    created = current is None or not table.is_like(stored_table(current))
    if created:
        table.version.save(force_insert=True)
        LotPrice.objects.bulk_create(table.lots)
        OptionPrice.objects.bulk_create(table.options)
    number = table.version.number if created or current is None else current.number
    return Published(number, created=created, lot_prices=len(table.lots), option_prices=len(table.options))


def standing_table() -> Published | None:
    """The table that sells now, as `publish_prices` tells of one that it left alone."""
    current = current_price_version()
    if current is None:
        return None
    return Published(
        current.number,
        created=False,
        lot_prices=current.lot_prices.count(),
        option_prices=current.option_prices.count(),
    )
