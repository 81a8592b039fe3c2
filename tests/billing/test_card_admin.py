"""What staff see of bank cards: everything that was read, and nothing that could be edited."""

import pytest
from django.test import Client
from pytest_django import Settings

from billing.models import CardEvent
from tests import cards

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _settings(settings: Settings) -> None:
    cards.take_cards(settings)


def test_sessions_and_events_are_shown(shop: None, admin_client: Client) -> None:
    session = cards.pay(cards.order())
    event = CardEvent.objects.get()
    page = admin_client.get(f"/admin/billing/cardsession/{session.pk}/change/").content.decode()
    assert session.session_id in page
    assert "/demo/card/" not in page
    assert 'name="status"' not in page
    assert event.event_id in admin_client.get("/admin/billing/cardevent/").content.decode()
    assert session.payment.order.token in str(event.body)
    told = admin_client.get(f"/admin/billing/cardevent/{event.pk}/change/")
    assert told.status_code == 200
    assert session.payment.order.token not in told.content.decode()
    assert admin_client.get("/admin/billing/cardevent/add/").status_code == 403
