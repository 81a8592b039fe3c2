"""Screening: three answers, a list in a file, a question for staff, and never a refund by itself."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import transaction

from anchorgpu.addresses import SettingError
from anchorgpu.screening import read_screening
from billing.models import PaymentView, Refund, ScreeningVerdict
from billing.screening import screen
from billing.services.accept import accept_as_full
from billing.services.money_decisions import clear_screening, refund_what_arrived
from billing.services.offer_again import sweep_offers
from core import clock, outbox
from core.errors import Conflict
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.billing import money
from tests.billing.told import kinds, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]
SENDER = "0x" + "11" * 20  # of every transfer of the scenario
OTHER = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


@pytest.fixture
def listed(tmp_path: Path, settings: Any) -> Path:
    """A list on which the sender stands."""
    file = tmp_path / "list.txt"
    file.write_text(f"# a list\n{OTHER}  # somebody\n\n{SENDER}\n")
    settings.SCREENING_FILE = file
    settings.SCREENING_UNKNOWN = "pass"
    return file


def test_the_three_answers(listed: Path) -> None:
    assert [screen(SENDER), screen(OTHER.lower()), screen("0x" + "22" * 20), screen("")] == [
        "hit",
        "hit",
        "clear",
        "unknown",
    ]
    listed.write_text("no address\n")
    assert screen(SENDER) == "unknown"
    listed.unlink()
    assert screen(SENDER) == "unknown"


def test_without_a_source_nobody_is_screened(order: Order) -> None:
    scenario.pay(order)
    assert not ScreeningVerdict.objects.exists()
    order.refresh_from_db()
    assert order.status == "paid"


def test_a_hit_stops_the_payment_and_asks_staff_once(order: Order, listed: Path) -> None:
    view = scenario.pay(order)
    scenario.Chain()
    order.refresh_from_db()
    assert (view.status, view.flags, order.status) == ("seen", ["screening"], "awaiting_payment")
    assert kinds(order) == ["payment_screening"]
    assert "payment.settled" not in told(order)
    assert ScreeningVerdict.objects.get().verdict == "hit"
    assert not Refund.objects.exists()
    money.check_books()
    due = order.payment.crypto.due_units
    assert money.balances(order)["under_decision", "local:USDC"] == -due


def test_staff_clear_it_and_the_order_goes_on(order: Order, listed: Path) -> None:
    scenario.pay(order)
    decision = money.open_decision(order, "payment_screening")
    clear_screening(decision=decision, actor="anna", reason="another person")
    outbox.drain()
    order.refresh_from_db()
    assert order.status == "paid"
    assert list(ScreeningVerdict.objects.values_list("verdict", flat=True)) == ["hit", "clear"]
    with pytest.raises(Conflict):
        clear_screening(decision=decision, actor="anna", reason="again")


def test_a_refund_only_by_a_persons_word(order: Order, listed: Path) -> None:
    scenario.pay(order)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
        outbox.drain()
        assert not Refund.objects.exists()
        transaction.set_rollback(True)
    decision = money.open_decision(order, "payment_screening")
    refund_what_arrived(decision=decision, actor="anna", reason="we do not take it")
    outbox.drain()
    order.refresh_from_db()
    assert order.status == "cancelled"
    assert money.refunds(order) == [("screening", order.payment.crypto.due_units, "address_needed")]


def test_what_is_unknown_passes_or_waits_by_the_setting(order: Order, listed: Path, settings: Any) -> None:
    listed.write_text("broken\n")
    settings.SCREENING_UNKNOWN = "hold"
    view = scenario.pay(order)
    assert (view.status, view.flags) == ("seen", ["screening"])
    settings.SCREENING_UNKNOWN = "pass"
    other = scenario.order(scenario.quote())
    assert scenario.pay(other).status == "settled"
    assert set(ScreeningVerdict.objects.values_list("verdict", flat=True)) == {"unknown"}


def test_a_list_that_grows_does_not_stop_what_has_settled(order: Order, listed: Path) -> None:
    names = listed.read_text()
    listed.write_text("# nobody\n")
    chain = scenario.Chain()
    scenario.pay(order, chain=chain)
    listed.write_text(names)
    chain.advance()
    assert chain.look(order.payment).status == "settled"


def test_late_money_of_a_listed_sender_is_not_offered_a_lot(order: Order, listed: Path) -> None:
    chain = scenario.Chain()
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=3), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        chain.send(order.payment, order.payment.crypto.due_units)
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        sweep_offers()
        sweep_offers()
        order.refresh_from_db()
        assert order.offered_until is None
        assert "payment_screening" in kinds(order)
        with pytest.raises(Conflict) as held:
            accept_as_full(decision=money.open_decision(order, "payment_late"), actor="a", reason="r")
        assert held.value.code == "screening_hold"
        clear_screening(decision=money.open_decision(order, "payment_screening"), actor="a", reason="r")
        sweep_offers()
        assert Order.objects.filter(pk=order.pk, offered_until__isnull=False).exists()
    assert PaymentView.objects.get(payment=order.payment).status == "expired"


def test_settings_refuse_half_a_list(tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text(f"{SENDER}\n0x12\n")
    for environ, said in [
        ({"SCREENING_FILE": str(file)}, "line 2"),
        ({"SCREENING_FILE": str(tmp_path / "none")}, "cannot be read"),
        ({"SCREENING_UNKNOWN": "maybe"}, "pass or hold"),
    ]:
        with pytest.raises(SettingError, match=said):
            read_screening(environ)
    file.write_text(f"{SENDER}\n")
    assert read_screening({"SCREENING_FILE": str(file)}).file == file
    assert read_screening({}).file is None
