"""What is free at this moment over the whole fleet, for the catalogue's list. One query, no lock."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

from catalog.stack import driver_suffices
from core import clock
from fleet.free_cards import BLOCKS, FOR_SALE, LIVING, NOT_OVERDUE
from fleet.periods import DAY_SECONDS, held_period

_BY_NODE = f"""
    SELECT n.accelerator_id, c.node_id, n.driver_version, count(*),
        count(*) FILTER (WHERE {FOR_SALE} AND c.id NOT IN (
            SELECT r.card_id FROM fleet_reservation r WHERE {LIVING} AND {BLOCKS} AND {NOT_OVERDUE}))
    FROM fleet_card c JOIN fleet_node n ON n.id = c.node_id
    WHERE c.in_service AND n.in_service
    GROUP BY 1, 2, 3
"""  # noqa: S608  # nosec B608 # constants; values are parameters


@dataclass(frozen=True, slots=True)
class NodeCards:
    """The cards of one node that are in service, and those of them that a sale would find."""

    driver: str
    cards: int
    free: int


@dataclass(frozen=True, slots=True)
class FreeNow:
    """`as_of`: when it was read."""

    as_of: datetime
    nodes: Mapping[int, tuple[NodeCards, ...]]

    def lots(self, *, accelerator_id: int, cards: int, driver_minimum: str = "") -> tuple[int, int]:
        """How many lots of so many cards of one node are free, and of how many."""
        nodes = [
            node
            for node in self.nodes.get(accelerator_id, ())
            if driver_suffices(node.driver, driver_minimum)
        ]
        return sum(node.free // cards for node in nodes), sum(node.cards // cards for node in nodes)


def free_now(*, term_days: int) -> FreeNow:
    """As orders for this term that are placed at this moment would find it; overdue holds do not count."""
    moment = clock.now()
    period = held_period(
        placed_at=moment,
        starts_at=None,
        release_at=moment + timedelta(seconds=settings.HOLD_SECONDS + settings.RELEASE_AFTER_EXPIRY_SECONDS),
        term_seconds=term_days * DAY_SECONDS,
    )
    nodes: dict[int, list[NodeCards]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_BY_NODE, {"lower": period.lower, "upper": period.upper, "moment": moment})
        for accelerator_id, _node, driver, cards, free in cursor.fetchall():
            nodes[accelerator_id].append(NodeCards(driver, cards, free))
    return FreeNow(as_of=moment, nodes={key: tuple(rows) for key, rows in nodes.items()})
