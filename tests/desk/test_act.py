"""Answering a decision on the desk: what will happen is shown first, and the service acts once."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from billing.models import Acceptance, Refund
from core import clock, decisions, outbox
from core.decision_kinds import permission_of
from core.models import AuditEntry, Decision, OutgoingMail
from desk.consequences import _TELLS
from fleet.models import Lease
from orders.lifecycle import OrderStatus
from orders.models import Order
from tests import scenario
from tests.core.desk import address, said, staff
from tests.desk.every_kind import FACTS, open_one

pytestmark = pytest.mark.django_db
DESTINATION = "0x8ba1f109551bD432803012645Ac136ddd64DBA72"


def page_of(decision: Decision, action: str) -> str:
    return reverse("desk:act", args=[decision.pk, action])


def read(response: Any) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split()))


def facts(response: Any) -> dict[str, str]:
    """What the page lists before the click."""
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", response.content.decode())
    return {html.unescape(term): html.unescape(text) for term, text in pairs}


@pytest.fixture
def order() -> Order:
    scenario.open_shop()
    return scenario.order()


@pytest.fixture
def partial(order: Order) -> Decision:
    """Half of it came, and the time is up."""
    due = order.payment.crypto.due_units
    chain = scenario.Chain()
    scenario.pay(order, units=due // 2, chain=chain)
    clock.skip(timedelta(hours=4))
    chain.advance(to=clock.now(), blocks=3)
    chain.look(order.payment)
    outbox.drain()
    return Decision.objects.get(kind="payment_partial")


@pytest.fixture
def ines() -> Client:
    return staff("ines", superuser=True)


def test_each_action_of_each_kind_asks_first(order: Order, ines: Client) -> None:
    """With what it concerns; asking changes nothing."""
    scenario.pay(order)
    Decision.objects.all().delete()
    lease = Lease.objects.get(order_ref=order.public_id)
    for kind in FACTS:
        row = open_one(kind, order, lease)
        for action in settings.DECISION_KINDS[kind]["actions"]:
            answer = ines.get(page_of(row, action))
            assert answer.status_code == 200, (kind, action)
            assert "What will happen" in read(answer)
            assert b"<textarea" in answer.content
            assert "%(" not in read(answer)
            if row.order_ref:
                assert facts(answer)["Order"] == f"{order.public_id} · Ada"
    assert Decision.objects.filter(closed_at=None).count() == len(FACTS)
    assert not AuditEntry.objects.filter(action__startswith="decision.").exists()


def test_what_is_told_of_an_action_belongs_to_one() -> None:
    known = {action for kind in settings.DECISION_KINDS.values() for action in kind["actions"]}
    assert set(_TELLS) <= known


def test_a_refund_shows_sum_and_way_and_is_opened_once(partial: Decision, order: Order, ines: Client) -> None:
    shown = facts(ines.get(page_of(partial, "refund")))
    half = order.payment.crypto.due_units // 2
    assert shown["Goes back"] == f"{half / 10**6:,.2f} USDC"
    assert shown["To"] == "an address on local that the buyer names"
    first = ines.post(page_of(partial, "refund"), {"reason": "he asked for it"})
    assert (first.status_code, first["Location"]) == (303, "/admin/")
    assert said(first) == ["Done: Refund."]
    refund = Refund.objects.get()
    assert (refund.units, refund.opened_by, refund.note) == (half, "ines", "he asked for it")
    second = staff("ben", superuser=True).post(page_of(partial, "refund"), {"reason": "me too"})
    assert said(second) == ["This is already done."]
    assert Refund.objects.count() == 1
    entry = AuditEntry.objects.get(action="payment.refund")
    assert (entry.actor, entry.reason) == ("ines", "he asked for it")
    assert entry.before == {"order": "expired", "payment": "expired"}
    assert entry.after == {"refunds": [refund.pk], "amounts": [f"{half / 10**6:f} USDC"]}
    closed = AuditEntry.objects.get(action="decision.refund")
    assert closed.before["facts"]["asset"] == "USDC"
    late = ines.get(page_of(partial, "refund"))
    assert "This is already done" in read(late)
    assert "he asked for it" in read(late)
    assert b"<textarea" not in late.content


def test_accepting_keeps_before_and_after(partial: Decision, order: Order, ines: Client) -> None:
    shown = facts(ines.get(page_of(partial, "accept")))
    half = f"{order.payment.crypto.due_units // 2 / 10**6:,.2f} USDC"
    assert shown["Counts as payment"] == half
    ines.post(page_of(partial, "accept"), {"reason": "a regular"})
    assert Acceptance.objects.count() == 1
    entry = AuditEntry.objects.get(action="payment.accept")
    assert (entry.before["status"], entry.after["status"]) == ("expired", "settled")


def test_a_hash_is_entered_with_the_sum_and_the_destination_in_sight(
    partial: Decision, order: Order, ines: Client
) -> None:
    """As it stands now: the buyer may have changed the address since the question was opened."""
    ines.post(page_of(partial, "refund"), {"reason": "he asked for it"})
    row = Refund.objects.get()
    due = {"status": "due", "destination": DESTINATION, "due_at": clock.now()}
    Refund.objects.filter(pk=row.pk).update(**due)
    decision = decisions.open_decision(
        kind="refund_due",
        subject=f"refund:{row.pk}",
        order_ref=order.public_id,
        facts={"amount": "1", "asset": "USDC", "network": "local", "destination": "0x" + "00" * 20},
    )
    amount = f"{row.units / 10**6:,.2f} USDC"
    shown = facts(ines.get(page_of(decision, "sent")))
    assert (shown["Amount"], shown["Destination"], shown["Network"]) == (amount, DESTINATION, "local")
    # The button of the refund's own row says the same.
    page = read(ines.get(address(row, "do", "sent")))
    assert DESTINATION in page
    assert f"{row.units / 10**6:.2f} USDC" in page
    wrong = ines.post(page_of(decision, "sent"), {"reason": "sent", "transaction_hash": "0x12"})
    assert wrong.status_code == 400
    assert "0x and 64 characters" in read(wrong)
    assert Decision.objects.get(pk=decision.pk).closed_at is None
    tx_hash = "0x" + "ab" * 32
    sent = ines.post(page_of(decision, "sent"), {"reason": "sent", "transaction_hash": tx_hash})
    assert said(sent)[-1] == "Done: Enter the transaction hash."
    assert Refund.objects.get().tx_hash == tx_hash


@pytest.mark.parametrize("reason", ["", "   ", "\u202e", "a\x00b", "x" * 1001])
def test_a_reason_that_says_nothing_is_refused(partial: Decision, ines: Client, reason: str) -> None:
    answer = ines.post(page_of(partial, "note"), {"reason": reason})
    assert answer.status_code == 400
    assert b'role="alert"' in answer.content
    assert Decision.objects.get(pk=partial.pk).closed_at is None


def test_each_action_needs_its_own_permission(partial: Decision) -> None:
    sees = staff("sees", "core.view_decision", permission_of("payment_partial", "note"))
    assert sees.get(page_of(partial, "note")).status_code == 200
    for action in ("accept", "refund"):
        assert sees.get(page_of(partial, action)).status_code == 403
        assert sees.post(page_of(partial, action), {"reason": "x"}).status_code == 403
    blind = staff("blind", permission_of("payment_partial", "refund"))
    assert blind.post(page_of(partial, "refund"), {"reason": "x"}).status_code == 403
    stranger = Client().post(page_of(partial, "refund"), {"reason": "x"})
    assert (stranger.status_code, stranger["Location"].split("?")[0]) == (302, "/admin/login/")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = staff("careful", superuser=True).cookies
    assert strict.post(page_of(partial, "refund"), {"reason": "x"}).status_code == 403
    assert Decision.objects.get(pk=partial.pk).closed_at is None


def test_what_is_not_there_is_not_found(partial: Decision, ines: Client) -> None:
    for decision_id, action in ((partial.pk, "explode"), (partial.pk, "clear"), (10**12, "note")):
        place = f"/admin/desk/decisions/{decision_id}/{action}/"
        assert ines.get(place).status_code == 404
        assert ines.post(place, {"reason": "x"}).status_code == 404
    assert ines.put(page_of(partial, "note")).status_code == 405
    assert ines.get(f"/admin/desk/decisions/{10**30}/note/").status_code == 404


def test_a_refusal_of_the_service_is_said_and_leaves_the_decision_open(order: Order, ines: Client) -> None:
    row = decisions.open_decision(
        kind="paid_after_cancel", subject=f"order:{order.pk}", order_ref=order.public_id
    )
    answer = ines.post(page_of(row, "refund"), {"reason": "x"})
    assert said(answer) == ["This order still goes on. Cancel it before its money goes back."]
    assert Decision.objects.get(pk=row.pk).closed_at is None
    assert Order.objects.get(pk=order.pk).status == OrderStatus.AWAITING_PAYMENT


def test_a_mail_that_bounced_is_sent_again_once(ines: Client) -> None:
    mail = OutgoingMail.objects.create(
        key="k",
        to="ada@example.com",
        language="en",
        subject="Your order",
        text="Hello",
        status=OutgoingMail.Status.FAILED,
        attempts=8,
        next_at=clock.system_now(),
        queued_at=clock.now(),
    )
    row = decisions.open_decision(
        kind="mail_failed", subject=f"mail:{mail.pk}", facts={"to": mail.to, "subject": mail.subject}
    )
    assert facts(ines.get(page_of(row, "send_mail")))["To"] == "ada@example.com"
    ines.post(page_of(row, "send_mail"), {"reason": "his box was full"})
    mail.refresh_from_db()
    assert (mail.status, mail.attempts) == (OutgoingMail.Status.QUEUED, 0)
    assert "already" in said(ines.post(page_of(row, "send_mail"), {"reason": "again"}))[-1]
    entry = AuditEntry.objects.get(action="mail.send_again")
    assert (entry.before["status"], entry.after["status"]) == ("failed", "queued")
