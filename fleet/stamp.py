"""A sign that what is on sale or free may have changed, for pages that are kept for some seconds."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import connection

from catalog.selectors.stamp import CATALOGUE_SQL

# The newest row of each kind costs one step down an index, whatever the fleet and its past. A booking makes a
# reservation, a change of order or lease an event. What leaves no row (a card taken out of service) is seen when the
# time of the page is over; the sale looks for itself.
_SALE_SQL = f"""SELECT concat_ws('|', {CATALOGUE_SQL},
    coalesce((SELECT max(id) FROM fleet_reservation), 0), coalesce((SELECT max(id) FROM fleet_card), 0),
    coalesce((SELECT max(id) FROM fleet_maintenancewindow), 0), coalesce((SELECT max(id) FROM core_event), 0)),
    (SELECT "offset" FROM core_clockoffset WHERE id = 1)"""  # noqa: S608  # nosec B608 # constants


@dataclass(frozen=True, slots=True)
class SaleStamp:
    """`offset`: how far the demo's clock is ahead, read on the way."""

    text: str
    offset: timedelta


def sale_stamp() -> SaleStamp:
    """The catalogue's fingerprint with the newest bookings, events and machines, and the demo's clock. 1 query."""
    with connection.cursor() as cursor:
        cursor.execute(_SALE_SQL)
        text, offset = cursor.fetchone()
    ahead = offset or timedelta(0)
    return SaleStamp(text=f"{text}|{ahead.total_seconds()}", offset=ahead)
