"""The order page while a card is missing: what it says, the button that moves the lease, and the times on record."""

from datetime import timedelta

import pytest
from django.test import Client

from core import clock, outbox
from fleet.models import Lease
from fleet.services import try_login
from fleet.services.sweep import sweep_leases
from fleet.services.watch_health import watch_health
from orders.models import Order
from tests import scenario
from tests.fleet.open_leases import drop_card, fault, mend, nodes, serials

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch, db: None) -> Order:
    """Paid and open, in a shop with a second node."""
    monkeypatch.setattr(try_login, "check_login", lambda **_arguments: "")
    scenario.open_shop(b200_nodes=2)
    found = scenario.order()
    scenario.pay(found)
    sweep_leases()
    outbox.drain()
    found.refresh_from_db()
    assert found.status == "active"
    return found


def lease_of(order: Order) -> Lease:
    return Lease.objects.get(order_ref=order.public_id)


def page(client: Client, order: Order, language: str = "en") -> str:
    answer = client.get(f"/{language}/orders/{order.token}/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_whole_lease_says_nothing_of_it(client: Client, order: Order) -> None:
    watch_health()
    text = page(client, order)
    assert "A card has a problem" not in text
    assert "Times on record" not in text
    assert "/move/" not in text


def test_a_missing_card_is_named_with_the_rule_and_the_button(client: Client, order: Order) -> None:
    lease = lease_of(order)
    drop_card(lease)
    watch_health()
    text = page(client, order)
    missing, sound = serials(lease)
    part = text[text.index('id="missing-cards"') : text.index('id="access"')]
    assert missing in part
    assert sound not in part
    assert "The machine does not see it any more." in part
    assert "Each started minute of each missing card is credited" in part
    assert "The local disk starts empty there" in part
    assert f'action="/en/orders/{order.token}/move/"' in part
    assert "Access open, a card has a problem" in text
    assert "csrfmiddlewaretoken" in part


def test_the_button_moves_once_and_says_so(client: Client, order: Order) -> None:
    lease = lease_of(order)
    before = nodes(lease)
    drop_card(lease)
    watch_health()
    answer = client.post(f"/en/orders/{order.token}/move/")
    assert answer.status_code == 303
    text = page(client, order)
    assert "Your lease moves to other cards" in text
    assert 'data-access="host"' not in text, "access is closed while it moves"
    assert "/move/" not in text
    client.post(f"/en/orders/{order.token}/move/")
    assert "This lease is already moving to other cards." in page(client, order)
    clock.skip(timedelta(minutes=3))
    sweep_leases()
    outbox.drain()
    assert nodes(lease).isdisjoint(before)
    text = page(client, order)
    assert "Access ready, term started" in text
    assert 'data-access="host"' in text
    assert "Times on record" in text
    assert "move to other cards:" in text
    assert "4 started minutes" in text


def test_without_free_cards_the_lease_stays_and_the_page_says_why(client: Client, order: Order) -> None:
    lease = lease_of(order)
    for node in ("b200-n00", "b200-n01"):
        fault("node_away", node_name=node)
    watch_health()
    assert client.post(f"/en/orders/{order.token}/move/").status_code == 303
    text = page(client, order)
    assert "No other whole cards are free at this moment." in text
    assert "Its machine does not answer." in text
    assert lease_of(order).moving_at is None
    assert set(serials(lease)) == set(serials(lease_of(order)))


def test_when_the_card_is_back_the_page_keeps_the_record(client: Client, order: Order) -> None:
    row = drop_card(lease_of(order))
    watch_health()
    clock.skip(timedelta(minutes=61))
    mend(row)
    watch_health()
    text = page(client, order)
    assert "Access ready, term started" in text
    assert "card missing:" in text
    assert "62 started minutes" in text
    assert "The cards are whole again" in text


def test_get_changes_nothing_and_a_foreign_token_is_not_found(client: Client, order: Order) -> None:
    drop_card(lease_of(order))
    watch_health()
    assert client.get(f"/en/orders/{order.token}/move/").status_code == 405
    assert client.post(f"/en/orders/{'x' * len(order.token)}/move/").status_code == 404
    assert lease_of(order).moving_at is None


@pytest.mark.parametrize("language", ["de", "fr", "ru"])
def test_the_page_is_whole_in_every_language(client: Client, order: Order, language: str) -> None:
    drop_card(lease_of(order))
    watch_health()
    assert serials(lease_of(order))[0] in page(client, order, language)
