"""Strangers cannot mail people in our name: each form that ends in a mail is bounded by address and by network."""

from datetime import timedelta

import pytest
from django.db import transaction

from core import outbox
from core.models import OutgoingMail
from orders import mail_bounds
from orders.contact import clean_contact
from orders.models import Order
from orders.services.cancel import cancel
from partners.services.make_partner import make_partner
from tests import scenario

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_bounds, "PER_ADDRESS", 3)
    monkeypatch.setattr(mail_bounds, "PER_NETWORK", 5)


@pytest.fixture(autouse=True)
def shop() -> None:
    scenario.open_shop()


def place_and_cancel(mail: str, prefix: str, owner: str = "web:stranger") -> Order:
    """What frees the hold at once, so that the bounds on holds stop nobody."""
    contact = clean_contact(name="Ada", email=mail, company="", language="en")
    order = scenario.order(contact=contact, mail_to=mail, prefix=prefix, owner=owner)
    outbox.drain()
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    return order


def mailed(to: str) -> int:
    return OutgoingMail.objects.filter(to__iexact=to).count()


def test_one_address_gets_the_mails_of_few_unpaid_orders_whatever_the_network() -> None:
    for number in range(6):
        place_and_cancel("Victim@example.com" if number % 2 else "victim@example.com", f"10.1.{number}.0/24")
    assert mailed("victim@example.com") == 3 * 2
    place_and_cancel("other@example.com", "10.2.0.0/24")
    assert mailed("other@example.com") == 2


def test_one_network_reaches_few_addresses() -> None:
    for number in range(8):
        place_and_cancel(f"victim{number}@example.com", "10.1.1.0/24")
    assert OutgoingMail.objects.count() == 5 * 2
    place_and_cancel("victim9@example.com", "10.1.2.0/24")
    assert mailed("victim9@example.com") == 2


def test_no_mail_about_an_unpaid_order_carries_what_a_stranger_typed() -> None:
    """A mail of ours with words of his would be his mail."""
    contact = clean_contact(
        name="Win at evil.example", email="victim@example.com", company="Call 0900 666", language="en"
    )
    order = scenario.order(contact=contact, mail_to=contact.email)
    outbox.drain()
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    mails = list(OutgoingMail.objects.filter(to="victim@example.com"))
    assert len(mails) == 2
    for mail in mails:
        assert "evil" not in mail.subject + mail.text
        assert "0900" not in mail.subject + mail.text


def test_nobody_is_refused_and_who_pays_hears_everything() -> None:
    for _number in range(4):
        place_and_cancel("ada@example.com", "10.1.1.0/24")
    before = mailed("ada@example.com")
    order = scenario.order(prefix="10.1.1.0/24", owner="web:stranger")
    scenario.pay(order)
    assert mailed("ada@example.com") == before + 1
    assert "Payment final" in OutgoingMail.objects.latest("pk").subject


def test_after_a_day_an_address_is_written_to_again() -> None:
    for _number in range(4):
        place_and_cancel("ada@example.com", "10.1.1.0/24")
    assert mailed("ada@example.com") == 3 * 2
    Order.objects.update(placed_at=Order.objects.latest("pk").placed_at - timedelta(days=1, minutes=1))
    place_and_cancel("ada@example.com", "10.1.3.0/24")
    assert mailed("ada@example.com") == 4 * 2


def test_a_partner_answers_for_his_own_orders() -> None:
    partner = make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")
    for _number in range(5):
        place_and_cancel("buyer@example.com", "", owner=partner.owner)
    assert mailed("buyer@example.com") == 5 * 2


def test_control_without_the_bound_every_order_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orders.services.notify.may_mail_unpaid", lambda _order: True)
    for _number in range(6):
        place_and_cancel("victim@example.com", "10.1.1.0/24")
    assert mailed("victim@example.com") == 6 * 2
