"""The log of a partner's orders, read forward: by cursor, in one order, without a gap whoever is writing."""

from datetime import datetime, timedelta

from django.db import connection

from core import clock
from core.models import Audience, Event
from partners.models import Partner, PartnerEvent, PartnerOrder

# An event gets its number and its time before its transaction is committed. So a later number may be seen before an
# earlier one, and whoever has gone past it would never see the earlier one. The list therefore ends before the oldest
# transaction that is writing, and this much before it: how far the clocks of web servers, workers and database may
# differ, and how long an event is on its way from its clock to its row.
SETTLING = timedelta(seconds=2)
# Transactions that have written, of this database, but not our own. Read by the statement before the list: one that
# begins later writes later.
_OLDEST_WRITER = """
    SELECT least(clock_timestamp(), min(xact_start)) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()
"""


def events_after(*, partner: Partner, after: int, limit: int) -> list[Event]:
    """What buyers may know of this partner's orders, in the order of the log, behind the event with the key `after`.

    2 queries, whose time does not grow with the events that there are: one part of one index.
    """
    rows = PartnerEvent.objects.filter(partner=partner, event_id__gt=after, event__at__lt=_settled_until())
    return [row.event for row in rows.select_related("event").order_by("event_id")[:limit]]


def events_of_order_after(*, owned: PartnerOrder, after: int, limit: int) -> list[Event]:
    """The same of one order. 2 queries."""
    rows = Event.objects.filter(order_ref=owned.order.public_id, audience=Audience.BUYER)
    return list(rows.filter(pk__gt=after, at__lt=_settled_until()).order_by("pk")[:limit])


def _settled_until() -> datetime:
    """On the product's clock, which events carry; the demo's runs ahead of the database's."""
    with connection.cursor() as cursor:
        cursor.execute(_OLDEST_WRITER)
        (oldest,) = cursor.fetchone()
    ahead = clock.now() - clock.system_now()
    settled: datetime = oldest - SETTLING + max(ahead, timedelta(0))
    return settled
