"""Which cards may be sold for a period, counted by the database in one statement: the part of a booking that reads.

Written as SQL: these two statements run in every booking, one of them over the whole fleet of an accelerator, and the
form of the question decides whether their time grows with the past (docs/locking.md).
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from catalog.stack import driver_suffices

# Parts of statements over cards c of nodes n and reservations r, with lower, upper and moment as parameters.
# What a card is taken for: a living reservation in the period, or one whose lease is over and not wiped yet.
LIVING = "r.status IN ('held', 'committed')"
BLOCKS = """(r.period && tstzrange(%(lower)s, %(upper)s, '[)')
           OR (r.status = 'committed' AND upper(r.period) <= %(moment)s))"""
# A booking lets overdue holds go before it places: to its first look they are not there.
NOT_OVERDUE = """NOT (r.status = 'held' AND EXISTS (
                SELECT FROM fleet_hold h WHERE h.id = r.hold_id AND h.release_at <= %(moment)s))"""
FOR_SALE = """c.in_service AND c.healthy AND n.in_service AND n.healthy
      AND NOT EXISTS (
            SELECT FROM fleet_maintenancewindow w
            WHERE w.node_id = n.id AND w.cancelled_at IS NULL
              AND w.period && tstzrange(%(lower)s, %(upper)s, '[)'))"""
# NOT IN reads all living reservations once; one look for each of thousands of cards would take longer.
_BY_NODE = f"""
    SELECT c.node_id, n.driver_version, count(*)
    FROM fleet_card c JOIN fleet_node n ON n.id = c.node_id
    WHERE n.accelerator_id = %(accelerator)s AND {FOR_SALE}
      AND c.id NOT IN (SELECT r.card_id FROM fleet_reservation r WHERE {LIVING} AND {BLOCKS} AND {{counts}})
    GROUP BY c.node_id, n.driver_version
"""  # noqa: S608  # nosec B608 # constants of this module; values are parameters
_TAKEN_UNTIL = f"""
    SELECT c.node_id, max(upper(r.period))
    FROM fleet_card c JOIN fleet_reservation r ON r.card_id = c.id AND {LIVING}
    WHERE c.node_id = ANY(%(nodes)s) GROUP BY c.node_id
"""  # noqa: S608  # nosec B608 # constants of this module; values are parameters
_AMONG = f"""
    SELECT c.node_id, c.id FROM fleet_card c JOIN fleet_node n ON n.id = c.node_id
    WHERE c.id = ANY(%(cards)s) AND {FOR_SALE}
      AND NOT EXISTS (SELECT FROM fleet_reservation r WHERE r.card_id = c.id AND {LIVING} AND {BLOCKS})
    ORDER BY c.id
"""  # noqa: S608  # nosec B608 # constants of this module; values are parameters


def free_by_node(
    *,
    accelerator_id: int,
    period: DateTimeTZRange,
    driver_minimum: str,
    moment: datetime,
    overdue_are_free: bool,
) -> dict[int, int]:
    """How many cards each node has free for the whole period, without a lock: where a booking begins to look.

    Left out: what is out of service, unhealthy, under maintenance in the period or has too old a driver.
    `overdue_are_free`: holds whose release time has passed do not count.
    """
    sql = _BY_NODE.format(counts=NOT_OVERDUE if overdue_are_free else "TRUE")
    rows = _rows(sql, period, moment, accelerator=accelerator_id)
    suffices = {driver: driver_suffices(driver, driver_minimum) for driver in {row[1] for row in rows}}
    return {node_id: count for node_id, driver, count in rows if suffices[driver]}


def taken_until(node_ids: Iterable[int]) -> dict[int, datetime]:
    """Until when a card of each of these nodes is taken; a node that nobody uses is left out."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKEN_UNTIL, {"nodes": list(node_ids)})
        return dict(cursor.fetchall())


def free_among(
    *, card_ids: Iterable[int], period: DateTimeTZRange, moment: datetime, first: str = ""
) -> dict[int, list[int]]:
    """Which of these cards are free for the whole period, by node and in key order: the look under their locks.

    Overdue holds count as long as they have not been let go. `first` is a statement that is sent with it.
    """
    free: dict[int, list[int]] = defaultdict(list)
    for node_id, card_id in _rows(_AMONG, period, moment, first=first, cards=list(card_ids)):
        free[node_id].append(card_id)
    return free


def _rows(
    sql: str, period: DateTimeTZRange, moment: datetime, *, first: str = "", **values: Any
) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(
            first + sql, {"lower": period.lower, "upper": period.upper, "moment": moment, **values}
        )
        if first:
            cursor.nextset()
        return list(cursor.fetchall())
