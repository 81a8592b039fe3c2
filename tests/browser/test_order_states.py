"""Pages of an order that only time, a machine or money brings about: accessible, and no wider than a phone."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db import transaction
from django.urls import reverse
from playwright.sync_api import Page

from billing.models import Refund
from billing.services.offer_again import sweep_offers
from core import clock, outbox
from fleet.selectors import members_of
from fleet.services.watch_health import watch_health
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.browser.test_buying import NARROW, WIDE, _axe, overflow
from tests.fleet.open_leases import drop_card
from tests.terms import active_order, extension, lease_of, take_logins_for_good

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def _address(order: Order, name: str = "order", **more: object) -> str:
    return reverse(f"shop:{name}", kwargs={"token": order.token} | more)


def _refunded() -> Iterator[str]:
    order = scenario.order()
    scenario.pay(order)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    yield _address(order)
    yield _address(order, "order_refund", refund_id=Refund.objects.get(order=order).pk)


def _running() -> Iterator[str]:
    order = active_order()
    longer = extension(order)
    drop_card(lease_of(order))
    watch_health()
    key = members_of(lease_of(order))[0]
    yield _address(order)
    yield _address(longer)
    yield _address(order, "order_members")
    yield _address(order, "order_member", key_id=key.key_id)
    yield _address(order, "order_end_early")


def _offered() -> Iterator[str]:
    order = scenario.order()
    chain = scenario.Chain()
    clock.skip(timedelta(hours=1, minutes=3))
    chain.advance(to=clock.now(), blocks=3)
    chain.look(order.payment)
    outbox.drain()
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.advance(to=clock.now(), blocks=3)
    chain.look(order.payment)
    sweep_offers()
    yield _address(order)


@pytest.mark.parametrize("make", [_refunded, _running, _offered])
def test_every_state_is_accessible_and_fits(
    page: Page, page_errors: list[str], monkeypatch: pytest.MonkeyPatch, make: Callable[[], Iterator[str]]
) -> None:
    take_logins_for_good(monkeypatch)
    scenario.open_shop()
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    broken: list[str] = []
    for target in make():
        page.goto(target)
        page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true })")
        for width in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": 900})
            if overflow(page) > 0:
                broken.append(f"{target} at {width}: too wide")
        broken += [f"{target}: {problem}" for problem in _axe(page)]
    assert broken == []
    assert page_errors == []
