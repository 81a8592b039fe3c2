"""Buttons of the admin: they ask first, need a permission, act once, then say "already done"."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client

from core import decisions, locks
from core.models import AuditEntry, Decision, Event
from fleet.lifecycle import LeaseStatus
from fleet.models import Hold, Lease, Node
from orders.lifecycle import OrderStatus
from orders.models import Order
from partners.models import ApiKey, Partner
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from tests import scenario
from tests.core.desk import address, press, said, staff


def an_order() -> Order:
    scenario.open_shop()
    return scenario.order()


def a_hold() -> Hold:
    return Hold.objects.get(ref=an_order().public_id)


def a_lease() -> Lease:
    row = an_order()
    scenario.pay(row)
    return Lease.objects.get(order_ref=row.public_id)


def a_node() -> Node:
    scenario.open_shop()
    return Node.objects.get(name="b200-n00")


def a_decision() -> Decision:
    return decisions.open_decision(kind="problem_reported", subject="order:1")


def a_key() -> ApiKey:
    partner = make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")
    return make_key(partner_id=partner.pk, actor="test")[0]


# Maker of the row, button, the permissions that are needed, what the audit calls it.
BUTTONS: list[tuple[Callable[[], Model], str, str, str]] = [
    (an_order, "cancel", "orders.change_order", "order.cancel"),
    (a_hold, "release", "fleet.change_hold", "hold.release"),
    (a_lease, "end", "fleet.change_lease", "lease.end"),
    (a_node, "maintenance", "fleet.change_node", "node.maintenance"),
    (a_decision, "note", "core.change_decision", "decision.note"),
    (a_key, "revoke", "partners.change_apikey", "api_key.revoke"),
]
NAMES = [f"{action}" for _, action, _, _ in BUTTONS]
each_button = pytest.mark.parametrize(("make", "action", "permission", "audited"), BUTTONS, ids=NAMES)


def view_of(permission: str) -> str:
    return permission.replace(".change_", ".view_")


@pytest.mark.django_db
@each_button
def test_a_button_asks_acts_once_and_then_says_already_done(
    make: Callable[[], Model], action: str, permission: str, audited: str
) -> None:
    row = make()
    client = staff("anna", permission)
    page = client.get(address(row, "do", action))
    assert page.status_code == 200
    assert b"<textarea" in page.content
    assert not AuditEntry.objects.filter(action=audited).exists()  # asking does nothing
    first = press(client, row, action, reason="a good reason")
    assert first.status_code == 302
    entry = AuditEntry.objects.get(action=audited)
    assert (entry.actor, entry.reason) == ("anna", "a good reason")
    second = press(staff("ben", permission), row, action)
    assert second.status_code == 302
    assert "already" in said(second)[-1]
    assert AuditEntry.objects.filter(action=audited).count() == 1


@pytest.mark.django_db
@each_button
def test_without_the_permission_there_is_no_button_and_no_act(
    make: Callable[[], Model], action: str, permission: str, audited: str
) -> None:
    row = make()
    looks = staff("looks", view_of(permission))
    page = looks.get(address(row))
    assert page.status_code == 200
    assert f"/do/{action}/" not in page.content.decode()
    assert looks.get(address(row, "do", action)).status_code == 403
    assert press(looks, row, action).status_code == 403
    assert press(staff("nobody"), row, action).status_code == 403
    assert Client().post(address(row, "do", action), {"reason": "x"}).status_code == 302  # to the login
    assert not AuditEntry.objects.filter(action=audited).exists()
    acts = staff("acts", permission)
    assert f"/do/{action}/" in acts.get(address(row)).content.decode()


@pytest.mark.django_db
@each_button
def test_an_act_needs_a_reason_that_can_be_stored(
    make: Callable[[], Model], action: str, permission: str, audited: str
) -> None:
    row = make()
    client = staff("anna", permission)
    for reason in ("", "   ", "\u202e", "\u200b \u2066", "a\x00b", "x" * 1001, "a\x07b"):
        response = press(client, row, action, reason=reason)
        assert response.status_code == 200
        assert response.context["form"].errors["reason"]
    assert not AuditEntry.objects.filter(action=audited).exists()


@pytest.mark.django_db
def test_an_unknown_button_or_row_is_not_found(chief: Client) -> None:
    row = a_decision()
    assert press(chief, row, "explode").status_code == 404
    row.pk = 10**30
    assert press(chief, row, "note").status_code == 404
    assert chief.post("/admin/core/decision/a%00/do/note/", {"reason": "x"}).status_code in {400, 404}


@pytest.mark.django_db
def test_other_methods_are_refused(chief: Client) -> None:
    assert chief.put(address(a_decision(), "do", "note")).status_code == 405


@pytest.mark.django_db
def test_ending_closes_and_cancelling_frees(chief: Client) -> None:
    lease = a_lease()
    press(chief, lease, "end")
    assert Lease.objects.get(pk=lease.pk).status == LeaseStatus.ENDING
    order = scenario.order()
    press(chief, order, "cancel")
    assert Order.objects.get(pk=order.pk).status == OrderStatus.CANCELLED
    assert Hold.objects.get(ref=order.public_id).released_at is not None


@pytest.mark.django_db
def test_what_staff_write_stays_with_staff(chief: Client) -> None:
    """The reason must neither reach the buyer's timeline nor be taken for a reason of the worker's own."""
    lease = a_lease()
    press(chief, lease, "end", "reversed")
    assert Lease.objects.get(pk=lease.pk).end_reason == "by_staff"
    assert Event.objects.get(name="lease.ending").payload == {"reason": "by_staff"}
    entry = AuditEntry.objects.get(action="lease.end")
    assert (entry.reason, entry.before, entry.after) == (
        "reversed",
        {"status": "reserved"},
        {"status": "ending"},
    )


@pytest.mark.django_db
def test_release_then_cancel_gives_the_cards_back_once(chief: Client) -> None:
    order = an_order()
    hold = Hold.objects.get(ref=order.public_id)
    press(chief, hold, "release")
    press(chief, order, "cancel")
    assert "already" in said(press(chief, hold, "release"))[-1]
    assert "already" in said(press(chief, order, "cancel"))[-1]
    assert AuditEntry.objects.filter(action__in=["hold.release", "order.cancel"]).count() == 2


@pytest.mark.django_db
def test_maintenance_and_back(chief: Client) -> None:
    node = a_node()
    press(chief, node, "maintenance", "fan")
    row = Node.objects.get(pk=node.pk)
    assert (row.in_service, row.note) == (False, "fan")
    press(chief, node, "service", "")
    assert Node.objects.get(pk=node.pk).in_service


@pytest.mark.django_db
def test_prepare_again_and_other_cards_call_their_services(chief: Client) -> None:
    lease = a_lease()
    Lease.objects.filter(pk=lease.pk).update(attempts=3, last_error="no answer")
    press(chief, lease, "prepare-again", "")
    assert Lease.objects.get(pk=lease.pk).attempts == 0
    press(chief, lease, "take-other-cards", "a fan is loud")
    assert AuditEntry.objects.filter(action="lease.take_other_cards").count() == 1
    second = press(chief, lease, "take-other-cards")
    assert "already" in said(second)[-1]


@pytest.mark.django_db
def test_a_new_key_is_shown_once_on_a_page_that_nobody_keeps(chief: Client) -> None:
    partner = make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")
    response = press(chief, partner, "make-key", "for the till", scopes=["orders:read"])
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    text = response.context["shown_once"]
    assert text.startswith("agk_test_")
    assert ApiKey.objects.get().note == "for the till"
    assert text.encode() not in chief.get(address(partner)).content
    Partner.objects.update(active=False)
    assert "switched off" in said(press(chief, partner, "make-key", scopes=["orders:read"]))[-1]


def press_at_once(clients: list[Client], row: Model, action: str) -> list[int]:
    """All press in the same moment; the status of each answer."""
    barrier = threading.Barrier(len(clients))
    statuses: list[int] = []

    def work(client: Client) -> None:
        try:
            barrier.wait(timeout=10)
            statuses.append(press(client, row, action).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    return statuses


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("make", "action", "audited"),
    [
        (an_order, "cancel", "order.cancel"),
        (a_hold, "release", "hold.release"),
        (a_lease, "end", "lease.end"),
    ],
)
def test_s49_of_staff_who_press_at_once_one_acts(
    make: Callable[[], Model], action: str, audited: str
) -> None:
    row = make()
    clients = [staff(f"staff-{number}", superuser=True) for number in range(4)]
    assert press_at_once(clients, row, action) == [302] * 4
    assert AuditEntry.objects.filter(action=audited).count() == 1


def closed_at_once(monkeypatch: pytest.MonkeyPatch, read: Callable[[int], Decision]) -> int:
    """Two close one decision in the same moment; how many closings are on record."""
    met = threading.Barrier(2)

    def read_together(decision_id: int) -> Decision:
        try:
            met.wait(timeout=2)
        except threading.BrokenBarrierError:
            pass
        return read(decision_id)

    def read_then_meet(decision_id: int) -> Decision:
        decision = read(decision_id)
        try:
            met.wait(timeout=2)
        except threading.BrokenBarrierError:
            pass
        return decision

    together = read_together if read is locks.decision_for_update else read_then_meet
    monkeypatch.setattr(decisions, "decision_for_update", together)
    row = a_decision()
    clients = [staff(f"staff-{number}", superuser=True) for number in range(2)]
    assert press_at_once(clients, row, "note") == [302, 302]
    return AuditEntry.objects.filter(action="decision.note").count()


@pytest.mark.django_db(transaction=True)
def test_a_decision_is_closed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert closed_at_once(monkeypatch, locks.decision_for_update) == 1


@pytest.mark.django_db(transaction=True)
def test_control_without_the_lock_it_is_closed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def unlocked(decision_id: int) -> Any:
        return Decision.objects.get(pk=decision_id)

    assert closed_at_once(monkeypatch, unlocked) == 2
