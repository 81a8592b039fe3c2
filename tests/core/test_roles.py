"""What each role may do, written out a second time and tried by hand-made requests; and that no role raises itself."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.core.management import CommandError, call_command
from django.db import models
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver, reverse
from pytest_django import Settings

from core import clock
from core.admin_actions import EditableServiceAdmin, Outcome
from core.decision_kinds import permission_of, services_of
from core.models import Decision
from core.services.roles import OWNER, sync_roles
from desk.views import act
from tests.core.desk import address, signed_in

pytestmark = pytest.mark.django_db
LETTERS = {"C": "Catalogue editor", "S": "Support", "F": "Finance", "P": "Operator", "W": "Owner"}
EVERYBODY = "CSFPW"

# Buttons of the tables.
BUTTONS = {
    "auth.user": {"reset-factor": "W", "end-sessions": "W"},
    "billing.invoice": {"cancel": "FW"},
    "billing.paymentrequest": {"refund": "FW"},
    "billing.refund": {"sent": "FW"},
    "fleet.card": {"service": "PW", "sound": "PW"},
    "fleet.hold": {"release": "PW"},
    "fleet.lease": {"prepare-again": "PW", "take-other-cards": "PW", "move": "PW", "end": "PW"},
    "fleet.maintenancewindow": {"cancel": "PW"},
    "fleet.node": {"maintenance": "PW", "service": "PW", "window": "PW"},
    "fleet.simulatedfault": {"off": "PW"},
    "orders.order": {"cancel": "FW"},
    "partners.apikey": {"rotate": "PW", "revoke": "PW"},
    "partners.member": {"off": "PW", "on": "PW"},
    "partners.partner": {"make-key": "PW", "add-member": "PW"},
    "partners.webhookdelivery": {"redeliver": "PW"},
    "partners.webhookendpoint": {
        "pause": "PW", "resume": "PW", "test": "PW", "redeliver": "PW", "delete": "PW",
    },
}  # fmt: skip

# Answers to decisions; None is what the kind's other answers need, the note among them.
MACHINES: dict[str | None, str] = {None: "PW"}
MONEY: dict[str | None, str] = {None: "FW"}
CHAINS: dict[str | None, str] = {None: "FPW"}
DECISIONS: dict[str, dict[str | None, str]] = {
    "problem_reported": {None: "SFPW"},
    "mail_failed": {None: "SFPW", "send_mail": "PW"},
    "mails_held": MACHINES,
    "outbox_parked": MACHINES,
    "sweep_late": MACHINES,
    "backup_restored": MACHINES,
    "webhook_paused": MACHINES,
    "lease_late": {None: "PW", "refund_now": "FW"},
    "lease_failing": MACHINES,
    "lease_failed": MACHINES,
    "lease_degraded": MACHINES,
    "lease_end_differs": MACHINES,
    "delivery_mismatch": MACHINES,
    "wipe_failed": MACHINES,
    "end_failing": MACHINES,
    "orphan_machine": MACHINES,
    "machine_missing": MACHINES,
    "machine_differs": MACHINES,
    "access_sync_failing": MACHINES,
    "extension_failing": MACHINES,
    "node_away": MACHINES,
    "node_drained": MACHINES,
    "provider_silent": MACHINES,
    "card_unsound": MACHINES,
    "network_missing": CHAINS,
    "network_not_offered": CHAINS,
    "endpoints_disagree": CHAINS,
    "price_unusable": CHAINS,
    "address_with_history": CHAINS,
    "payment_partial": MONEY,
    "payment_over": MONEY,
    "payment_late": MONEY,
    "payment_wrong_asset": MONEY,
    "payment_wrong_network": MONEY,
    "payment_screening": MONEY,
    "payment_disagree": MONEY,
    "payment_unreadable": MONEY,
    "payment_reversed": MONEY,
    "payment_after_backup": MONEY,
    "order_no_capacity": MONEY,
    "paid_after_cancel": MONEY,
    "refund_due": MONEY,
    "refund_unverified": MONEY,
    "card_refund_failed": MONEY,
    "card_mismatch": MONEY,
    "card_dispute": MONEY,
    "card_refunded_elsewhere": MONEY,
    "card_payment_after_backup": MONEY,
    "card_session_failed": MONEY,
    "card_event_unknown": MONEY,
    "invoice_failing": MONEY,
    "seller_missing": MONEY,
}

# Pages of the desk: who sees one, who may send its form (None: it has none, or is nothing else), and a value where
# the address takes one.
PAGES: dict[str, tuple[str | None, str | None, dict[str, Any]]] = {
    "queue": (EVERYBODY, None, {}),
    "search": (EVERYBODY, None, {}),
    "security": (EVERYBODY, None, {}),
    "end_session": (None, EVERYBODY, {}),
    "new_codes": (None, EVERYBODY, {}),
    "new_device": (None, EVERYBODY, {}),
    "fleet": ("SFPW", None, {}),
    "prices": (EVERYBODY, "CW", {}),
    "prices_preview": (EVERYBODY, None, {}),
    "prices_rebase": (None, "CW", {}),
    "prices_publish": ("CW", "CW", {}),
    "prices_discard": ("CW", "CW", {}),
    "prices_import": ("CW", "CW", {}),
    "exports": ("FW", "FW", {}),
    "person": ("W", "W", {}),
    "person_export": (None, "W", {}),
    "person_erase": (None, "W", {}),
    "person_erased": ("W", None, {"entry_id": 1}),
}
# The login's own, and what the table of decisions covers.
OTHER_PAGES = {"second_factor", "set_up_factor", "sign_out", "act"}

# Lists of the tables, by app and then by what differs.
LISTS = {
    "catalog": EVERYBODY, "orders": "SFPW", "billing": "SFPW", "fleet": "SFPW", "partners": "PW", "auth": "W",
    "partners.partner": "FPW", "core.decision": "SFPW", "core.event": "SFPW", "core.outgoingmail": "SFPW",
    "core.auditentry": "FPW", "core.outboxrow": "PW", "core.sweeprun": "PW",
}  # fmt: skip
# Rows that are typed in, not made by a service: who may add one and who may change one.
FORMS = {
    "auth.user": ("W", "W"), "auth.group": ("W", "W"),
    "catalog.accelerator": ("CW", "CW"), "catalog.image": ("CW", "CW"), "catalog.lot": ("CW", "CW"),
    "catalog.option": ("CW", "CW"), "catalog.term": ("CW", "CW"),
    "fleet.simulatedfault": ("PW", ""),
    "partners.partner": ("PW", "PW"),
}  # fmt: skip


@pytest.fixture
def clients() -> dict[str, Client]:
    """One member of staff of each role."""
    sync_roles()
    found = {}
    for letter, role in LETTERS.items():
        user = User.objects.create(username=f"one-{letter}", is_staff=True)
        user.groups.add(Group.objects.get(name=role))
        found[letter] = signed_in(user)
    return found


def tables() -> Iterator[tuple[str, Any]]:
    for model, page in admin.site._registry.items():
        yield model._meta.label_lower, page


def roles_with(permission: str) -> str:
    app, codename = permission.split(".")
    names = Group.objects.filter(
        permissions__content_type__app_label=app, permissions__codename=codename
    ).values_list("name", flat=True)
    return "".join(letter for letter, role in LETTERS.items() if role in names)


def test_the_roles_are_those_of_this_table() -> None:
    assert set(settings.STAFF_ROLES) == set(LETTERS.values())
    assert LETTERS["W"] == OWNER  # the one that core knows by name


def test_each_button_is_for_the_roles_of_the_table() -> None:
    sync_roles()
    found = {
        label: {action.name: roles_with(action.permission) for action in page.service_actions}
        for label, page in tables()
        if getattr(page, "service_actions", ())
    }
    assert found == BUTTONS


def test_each_answer_to_a_decision_is_for_the_roles_of_the_table() -> None:
    sync_roles()
    assert set(settings.DECISION_KINDS) == set(DECISIONS)
    held = {name: roles_with(name) for name in {permission_of(*one) for one in answers()}}
    for kind, action in answers():
        wanted = DECISIONS[kind].get(action, DECISIONS[kind][None])
        if action in ("refund", "refund_excess", "accept", "clear", "sent", "send_again"):
            assert wanted == "FW", (kind, action)  # money is moved by nobody else, whatever the kind
        assert held[permission_of(kind, action)] == wanted, (kind, action)


def answers() -> list[tuple[str, str]]:
    return [(kind, action) for kind in settings.DECISION_KINDS for action in services_of(kind)]


@pytest.fixture
def nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """What gets through to a service ends here with 299."""

    def through(*_given: Any, **_more: Any) -> HttpResponse:
        return HttpResponse(status=299)

    monkeypatch.setattr(EditableServiceAdmin, "_act", through)
    monkeypatch.setattr(act, "carry_out", lambda *_given: Outcome(is_over=True))
    monkeypatch.setattr(act, "HttpResponseRedirect", through)


FILLED = {
    "reason": "because", "transaction_hash": "0x" + "a" * 64, "amount": "1", "name": "A", "mail": "a@b.example",
    "language": "en", "scopes": "orders:read", "days": "30", "overlap_hours": "1",
    "from_at": "2027-01-01 00:00", "to_at": "2027-01-02 00:00", "until_at": "2027-01-02 00:00",
}  # fmt: skip


def test_no_button_is_pressed_by_a_hand_made_request_of_another_role(
    clients: dict[str, Client], nothing_is_done: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for label, page in tables():
        row: models.Model = page.model(pk=1)
        if not getattr(page, "service_actions", ()):
            continue
        monkeypatch.setattr(page, "get_object", lambda *_given, row=row: row)
        monkeypatch.setattr(
            page, "_page", lambda *_given, **_more: HttpResponse(status=298)
        )  # a value is missing
        for action in page.service_actions:
            for letter, client in clients.items():
                status = client.post(address(row, "do", action.name), FILLED).status_code
                wanted = {298, 299} if letter in BUTTONS[label][action.name] else {403}
                assert status in wanted, (label, action.name, letter, status)


def test_no_decision_is_answered_by_a_hand_made_request_of_another_role(
    clients: dict[str, Client], nothing_is_done: None
) -> None:
    """One answer for each permission, on the desk and in the table; which answer needs which is tested above."""
    for kind, action in {permission_of(*one): one for one in answers()}.values():
        row = Decision.objects.create(kind=kind, subject="order:1", opened_at=clock.now())
        allowed = DECISIONS[kind].get(action, DECISIONS[kind][None])
        places = [
            address(row, "do", action),
            reverse("desk:act", kwargs={"decision_id": row.pk, "action": action}),
        ]
        for letter, client in clients.items():
            for place in places:
                status = client.post(place, FILLED).status_code
                assert status == (299 if letter in allowed else 403), (place, kind, letter)
        row.delete()


def test_each_page_of_the_desk_is_for_the_roles_of_the_table(clients: dict[str, Client]) -> None:
    names = {name for name in get_resolver().namespace_dict["desk"][1].reverse_dict if isinstance(name, str)}
    assert names == set(PAGES) | OTHER_PAGES
    for name, (sees, sends, values) in PAGES.items():
        place = reverse(f"desk:{name}", kwargs=values)
        for letter, client in clients.items():
            assert_answer(client.get(place), letter, sees, name)
            assert_answer(client.post(place, {}), letter, sends, name)


def assert_answer(response: Any, letter: str, allowed: str | None, name: str) -> None:
    status = response.status_code
    assert not response.get("Location", "").startswith("/admin/login/")
    if allowed is None:
        assert status in (403, 405), (name, letter, status)
    elif letter in allowed:
        assert status not in (403, 405), (name, letter, status)
    else:
        assert status == 403, (name, letter, status)


def test_each_table_is_seen_by_the_roles_of_the_table(clients: dict[str, Client]) -> None:
    requests = {letter: client.get("/admin/tables/").wsgi_request for letter, client in clients.items()}
    for label, page in tables():
        seen = "".join(letter for letter, request in requests.items() if page.has_view_permission(request))
        assert seen == LISTS.get(label, LISTS.get(label.partition(".")[0])), label
    assert (
        clients["C"].get(reverse("admin:orders_order_changelist")).status_code == 403
    )  # what Django makes of it


def test_each_form_is_for_the_roles_of_the_table() -> None:
    sync_roles()
    chief = signed_in(User.objects.create(username="chief", is_staff=True, is_superuser=True))
    request = chief.get("/admin/tables/").wsgi_request
    found = {}
    for label, page in tables():
        app, name = label.split(".")
        adds = roles_with(f"{app}.add_{name}") if page.has_add_permission(request) else ""
        changes = roles_with(f"{app}.change_{name}") if page.has_change_permission(request) else ""
        if adds or changes:
            found[label] = (adds, changes)
        assert not page.has_delete_permission(request), label
    assert found == FORMS


def test_no_role_deletes() -> None:
    sync_roles()
    assert not Permission.objects.filter(
        group__name__in=LETTERS.values(), codename__startswith="delete_"
    ).exists()


def test_sync_overwrites_roles_and_leaves_other_groups_alone() -> None:
    sync_roles()
    beyond = Permission.objects.get(codename="change_user")
    support, own = Group.objects.get(name="Support"), Group.objects.create(name="Auditors")
    support.permissions.add(beyond)
    own.permissions.add(beyond)
    member = User.objects.create(username="one")
    member.groups.add(support)
    before = support.permissions.count()
    call_command("sync_roles")
    assert support.permissions.count() == before - 1
    assert beyond not in support.permissions.all()
    assert list(own.permissions.all()) == [beyond]
    assert list(member.groups.all()) == [support]


def test_a_role_that_names_nothing_is_refused_before_anything_is_written(settings: Settings) -> None:
    settings.STAFF_ROLES = {"Support": ("orders.view_order",), "Odd": ("orders.veiw_order",)}
    with pytest.raises(CommandError, match=r"orders\.veiw_order"):
        call_command("sync_roles")
    assert not Group.objects.exists()


def test_the_documentation_names_the_permissions_of_each_role() -> None:
    text = Path(settings.BASE_DIR, "docs", "operations.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \*\*(.+?)\*\* \| .+? \| (.+?) \|$", text, re.MULTILINE))
    assert {role: tuple(re.findall(r"`(.+?)`", names)) for role, names in rows.items()} == dict(
        settings.STAFF_ROLES
    )
