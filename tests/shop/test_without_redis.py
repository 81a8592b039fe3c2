"""Losing Redis from quote to placed order: no 5xx, no waiting, nothing lost (DESIGN rule 8)."""

import time
from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from anchorgpu.celery import app
from core.models import OutboxRow, OutgoingMail
from orders.models import Order
from tests import scenario
from tests.shop.conftest import configure, order_form

pytestmark = pytest.mark.django_db(transaction=True)

DEAD = "redis://127.0.0.1:9/0"


def _forget_connections() -> None:
    """Celery pools connections by process; as after a fork it makes new ones, by the settings of now."""
    app._after_fork()  # type: ignore[attr-defined]


@pytest.fixture
def no_redis(settings: Settings) -> Iterator[None]:
    """Broker and cache at a port where nothing listens."""
    former = app.conf.broker_url
    settings.REDIS_URL = DEAD
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": DEAD}}
    app.conf.update(broker_url=DEAD)
    _forget_connections()
    yield
    app.conf.update(broker_url=former)
    _forget_connections()


def test_an_order_is_placed_and_claimed_within_two_seconds_each(no_redis: None) -> None:
    scenario.open_shop()
    buyer = Client()
    started = time.monotonic()
    quoted = buyer.post("/en/catalog/b200-180/", configure())
    assert quoted.status_code == 303
    assert time.monotonic() - started < 2
    started = time.monotonic()
    placed = buyer.post(f"{quoted['Location']}order/", order_form())
    assert placed.status_code == 303
    assert time.monotonic() - started < 2
    order = Order.objects.get()
    for action in ("claim", "demo-pay"):
        started = time.monotonic()
        assert buyer.post(f"/en/orders/{order.token}/{action}/").status_code == 303
        assert time.monotonic() - started < 2
    assert buyer.get(f"/en/orders/{order.token}/").status_code == 200
    # What the lost hints would have started waits in rows.
    assert OutboxRow.objects.filter(status="pending", handler="orders.on_order").count() == 1
    scenario.pay(order)
    assert OutgoingMail.objects.filter(key=f"order:{order.pk}:placed").count() == 1
    assert not OutboxRow.objects.filter(status="pending").exists()
    order.refresh_from_db()
    assert order.status == "paid"
