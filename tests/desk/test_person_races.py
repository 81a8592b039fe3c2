"""What happens to a buyer in the very moment in which he is erased: nothing of him comes back, nothing new is lost."""

from typing import Any

import pytest
from pytest_django import Settings

from core import mail, outbox
from core.models import Decision, OutgoingMail
from core.person import Person
from core.services import erase_person as erasure
from orders.models import Order
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
    look, placed = erasure.open_matters_of, []

    def meanwhile(person: Person) -> list[str]:
        found = look(person)
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
