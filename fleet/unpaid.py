"""What is held and not paid at one moment: one short read for all bounds of a booking."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

# All open holds lie in one small partial index (hold_unpaid), however many there ever were.
_READ = """
    SELECT count(*) FILTER (WHERE release_at > %(moment)s AND owner = %(owner)s),
           coalesce(sum(card_count) FILTER (WHERE release_at > %(moment)s AND owner = %(owner)s), 0),
           count(*) FILTER (WHERE release_at > %(moment)s AND prefix = %(prefix)s),
           coalesce(sum(card_count) FILTER (
               WHERE release_at > %(moment)s AND prefix = %(prefix)s
                 AND (SELECT accelerator_id FROM catalog_lot WHERE id = lot_id) = %(accelerator)s), 0),
           count(*) FILTER (WHERE release_at <= %(moment)s),
           EXISTS (SELECT FROM fleet_hold WHERE ref = %(ref)s)
    FROM fleet_hold WHERE committed_at IS NULL AND released_at IS NULL
"""


@dataclass(frozen=True)
class Unpaid:
    """Open holds of an owner and of a network prefix, whether any is overdue, whether the order had a hold before."""

    owner_orders: int
    owner_cards: int
    prefix_orders: int
    prefix_cards: int
    some_are_overdue: bool
    ref_is_known: bool


def read_unpaid(
    *, owner: str, prefix: str, accelerator_id: int, ref: str, moment: datetime, first: str = ""
) -> Unpaid:
    """Counted at `moment`; `prefix_cards` are those of the accelerator. An overdue hold counts for nobody.

    `first` are statements that are sent with it; it sees what was there when the last of them was done.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            first + _READ,
            {
                "owner": owner,
                "prefix": prefix,
                "accelerator": accelerator_id,
                "ref": ref,
                "moment": moment,
            },
        )
        while cursor.nextset():
            pass
        row = cursor.fetchone()
    return Unpaid(
        owner_orders=row[0],
        owner_cards=row[1],
        prefix_orders=row[2],
        prefix_cards=row[3],
        some_are_overdue=row[4] > 0,
        ref_is_known=row[5],
    )
