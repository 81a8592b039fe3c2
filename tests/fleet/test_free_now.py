"""Three looks at what is free say the same: the list's, the calendar's, and the one that a booking begins with."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import F
from pytest_django import DjangoAssertNumQueries

from catalog.models import Lot
from core import clock
from fleet.availability import availability
from fleet.free_now import free_now
from fleet.models import Card, Hold, MaintenanceWindow, Node
from fleet.periods import held_period
from fleet.selectors import free_lots
from tests import scenario

pytestmark = pytest.mark.django_db
DAYS = 3


def looks(code: str) -> tuple[int, int, int]:
    lot = Lot.objects.select_related("accelerator").get(code=code)
    driver = lot.accelerator.driver_minimum or ""
    moment = clock.now()
    release_at = moment + timedelta(seconds=settings.HOLD_SECONDS + settings.RELEASE_AFTER_EXPIRY_SECONDS)
    period = held_period(placed_at=moment, starts_at=None, release_at=release_at, term_seconds=DAYS * 86400)
    listed, _of = free_now(term_days=DAYS).lots(
        accelerator_id=lot.accelerator_id, cards=lot.cards, driver_minimum=driver
    )
    seen = availability(
        lot=lot,
        lots=1,
        term_days=DAYS,
        from_day=moment.date(),
        to_day=moment.date(),
        driver_minimum=driver,
        sizes=[lot.cards],
    )
    return listed, seen.at_once[lot.cards], free_lots(lot=lot, period=period, driver_minimum=driver).lots


def test_all_looks_agree_whatever_keeps_cards_busy() -> None:
    scenario.open_shop(b200_nodes=3)
    code = "b200-180x2"
    assert looks(code) == (12, 12, 12)
    scenario.order()
    assert looks(code) == (11, 11, 11)
    Card.objects.filter(node__name="b200-n02", index=0).update(healthy=False)
    assert looks(code) == (10, 10, 10)
    Node.objects.filter(name="b200-n02").update(driver_version="1.0")
    assert looks(code) == (7, 7, 7)
    moment = clock.now()
    sound = Node.objects.filter(name__startswith="b200", driver_version="580.65")
    free = sound.exclude(cards__reservations__isnull=False).get()
    MaintenanceWindow.objects.create(
        node=free,
        period=DateTimeTZRange(moment + timedelta(days=1), moment + timedelta(days=2), "[)"),
        reason="fans",
        made_by="ops",
        made_at=moment,
    )
    assert looks(code) == (3, 3, 3)
    day = timedelta(days=1)
    Hold.objects.update(
        placed_at=F("placed_at") - day, expires_at=F("expires_at") - day, release_at=F("release_at") - day
    )
    assert looks(code) == (4, 4, 4)


def test_the_whole_fleet_is_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    scenario.open_shop()
    with clock.offset_read_once(timedelta(0)), django_assert_num_queries(1):
        found = free_now(term_days=DAYS)
    assert sum(node.cards for nodes in found.nodes.values() for node in nodes) == Card.objects.count()
