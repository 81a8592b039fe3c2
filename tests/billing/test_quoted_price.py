"""S21: what was quoted is what is asked, charged and booked, whatever staff change in the catalogue meanwhile."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from pytest_django import Settings

from billing.models import CardSession, PaymentRequest
from catalog.models import Accelerator, Lot, Option
from catalog.services.publish import publish_prices
from core import outbox
from core.errors import Invalid, Refusal
from core.models import OutgoingMail
from orders.models import Order, Quote
from tests import cards, scenario
from tests.billing import money

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]
OPTION = "nvme-extra"


def _price(factor: str) -> None:
    for row in Accelerator.objects.exclude(card_hour_amount=None):
        assert row.card_hour_amount is not None
        row.card_hour_amount = (row.card_hour_amount * Decimal(factor)).quantize(Decimal("0.01"))
        row.save(update_fields=["card_hour_amount"])
    assert publish_prices().created


def _option_off() -> None:
    Option.objects.filter(code=OPTION).update(on_sale=False)


def _lot_off() -> None:
    Lot.objects.filter(code="b200-180x2").update(on_sale=False)


CHANGES: dict[str, Callable[[], None]] = {
    "dearer": lambda: _price("2"),
    "cheaper": lambda: _price("0.5"),
    "option withdrawn": _option_off,
    "lot withdrawn": _lot_off,
}


def quoted() -> Quote:
    return scenario.quote(options=[(OPTION, 1)])


@pytest.mark.parametrize("change", CHANGES)
def test_s21_an_order_is_asked_and_charged_as_quoted(change: str) -> None:
    quote = quoted()
    order = scenario.order(quote)
    asked = order.payment.crypto.due_units
    CHANGES[change]()
    payment = PaymentRequest.objects.select_related("address").get(order=order)
    assert (payment.amount, payment.crypto.due_units) == (quote.total, asked)
    assert asked == quote.total * 10**6
    scenario.pay(order)
    order.refresh_from_db()
    assert order.status == "paid"
    assert money.balances(order)["exchange", "USD"] == quote.total * 100
    assert f"{quote.total:.2f}" in OutgoingMail.objects.get(key=f"order:{order.pk}:placed").text
    money.check_books()


@pytest.mark.parametrize("change", CHANGES)
def test_s21_a_card_is_charged_as_quoted(change: str, settings: Settings) -> None:
    cards.take_cards(settings)
    quote = quoted()
    order = cards.order(quote)
    CHANGES[change]()
    session = cards.pay(order)
    outbox.drain()
    order.refresh_from_db()
    assert order.status == "paid"
    assert CardSession.objects.get(pk=session.pk).amount_minor == quote.total * 100
    assert cards.record_of(session).body["amount_total"] == quote.total * 100


@pytest.mark.parametrize("change", ["dearer", "cheaper"])
def test_s21_an_open_quote_keeps_its_price(change: str) -> None:
    quote = quoted()
    CHANGES[change]()
    order = scenario.order(quote)
    assert order.payment.amount == quote.total
    assert quoted().total != quote.total


@pytest.mark.parametrize("change", ["option withdrawn", "lot withdrawn"])
def test_s21_what_was_withdrawn_is_refused_before_any_charge_and_not_quoted_again(change: str) -> None:
    quote = quoted()
    CHANGES[change]()
    with pytest.raises(Refusal) as refused:
        scenario.order(quote)
    assert refused.value.code == "not_on_sale"
    assert not Order.objects.exists()
    with pytest.raises((Refusal, Invalid)):
        quoted()


def test_s21_the_cards_of_a_lot_are_part_of_its_name() -> None:
    lot = Lot.objects.get(code="b200-180x2")
    lot.cards = 4
    with pytest.raises(Exception, match="b200-180x4"):
        lot.full_clean()
