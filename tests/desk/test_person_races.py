"""What happens to a buyer in the very moment in which he is erased: nothing of him comes back, nothing new is lost."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from pytest_django import Settings

from billing.services.offer_again import sweep_offers, take_refund
from core import audit, clock, mail, outbox
from core.errors import Conflict
from core.models import AuditEntry, Decision, OutgoingMail
from core.person import Person, open_matters_of
from core.services import erase_person as erasure
from fleet.models import Hold
from orders import locks
from orders.models import Order
from orders.services import find
from tests import scenario
from tests.desk import buyers
from tests.desk.buyers import EMAIL

pytestmark = pytest.mark.django_db


@pytest.fixture
def cancelled(db: None) -> Order:
    scenario.open_shop()
    return buyers.cancelled(buyers.buys())


def erase() -> None:
    erasure.erase_person(address=EMAIL, actor="anna", reason="asked by mail")


def test_an_order_that_comes_while_its_buyer_is_erased_gets_its_mail(
    cancelled: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed: list[Order] = []

    def meanwhile(person: Person) -> list[str]:
        found = open_matters_of(person)
        placed.append(buyers.buys())
        outbox.drain()
        return found

    monkeypatch.setattr(erasure, "open_matters_of", meanwhile)
    erase()
    cancelled.refresh_from_db()
    assert cancelled.contact_email == ""
    (order,) = placed
    waiting = OutgoingMail.objects.get(order_ref=order.public_id)
    assert (waiting.to, waiting.status) == (EMAIL, "queued")
    assert order.get_absolute_url() in waiting.text


@pytest.fixture
def expired(db: None) -> Iterator[tuple[Order, scenario.Chain]]:
    """An order that nobody has paid, three minutes after its time."""
    scenario.open_shop()
    order, chain = buyers.buys(), scenario.Chain()
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=3), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        yield Order.objects.get(pk=order.pk), chain


def pays_late(order: Order, chain: scenario.Chain) -> Order:
    scenario.pay(order, chain=chain)
    sweep_offers()
    return Order.objects.get(pk=order.pk)


def test_late_money_of_an_erased_buyer_stays_a_question_for_staff(
    expired: tuple[Order, scenario.Chain],
) -> None:
    erase()
    order = pays_late(*expired)
    assert order.offered_until is None
    assert not Hold.objects.filter(ref=order.public_id, released_at=None).exists()
    assert Decision.objects.get(closed_at=None).kind == "payment_late"
    assert buyers.mentions((EMAIL.lower(),)) == {}


def test_nobody_is_erased_while_a_lot_is_kept_for_his_choice(expired: tuple[Order, scenario.Chain]) -> None:
    order = pays_late(*expired)
    assert order.offered_until is not None
    with pytest.raises(Conflict) as busy:
        erase()
    assert f"Order {order.public_id} is not over." in busy.value.text
    take_refund(order_id=order.public_id)
    with pytest.raises(Conflict) as busy:
        erase()
    assert "has not arrived yet" in busy.value.text


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_locked", [True, False])
def test_no_links_are_mailed_while_their_reader_is_erased(
    monkeypatch: pytest.MonkeyPatch, is_locked: bool
) -> None:
    """The control: without the lock a mail is written from orders that are being erased."""
    scenario.open_shop()
    buyers.cancelled(buyers.buys())
    mailed: list[bool] = []
    record = audit.record

    def answer() -> None:
        try:
            mailed.append(find.answer(search_id=find.ask(address=EMAIL, prefix="10.0.0.0/24").pk))
        finally:
            connection.close()

    searching = threading.Thread(target=answer)

    def meanwhile(**entry: Any) -> AuditEntry:
        searching.start()
        searching.join(timeout=0.5 if is_locked else 10)
        return record(**entry)

    monkeypatch.setattr(audit, "record", meanwhile)
    if not is_locked:
        monkeypatch.setattr(locks, "lock_search_address", lambda address: None)
    erase()
    searching.join(timeout=10)
    assert mailed == [not is_locked]
    assert OutgoingMail.objects.filter(to=EMAIL).exists() is not is_locked


def test_a_mail_that_fails_after_its_reader_was_erased_brings_nobody_back(
    cancelled: Order, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAIL_IS_SENT = True
    row = OutgoingMail.objects.filter(order_ref=cancelled.public_id, status="queued").latest("pk")
    OutgoingMail.objects.filter(pk=row.pk).update(attempts=mail.MAX_ATTEMPTS - 1)

    class Transport:
        """Slow: the erasure comes in between."""

        def __init__(self, _mail: Any) -> None:
            pass

        def send(self) -> None:
            erase()
            raise OSError(f"550 {EMAIL}")

    monkeypatch.setattr(mail, "_message", Transport)
    assert mail.send_one(row.pk) is False
    assert not Decision.objects.filter(kind="mail_failed").exists()
    assert buyers.mentions((EMAIL.lower(),)) == {}
