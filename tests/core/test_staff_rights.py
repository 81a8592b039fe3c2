"""No account raises itself or another above itself, and one owner always stays."""

from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from core import admin_staff, locks
from core.admin_stale import SHOWN
from core.models import AuditEntry
from core.services.roles import OWNER, sync_roles
from tests.core.desk import address, signed_in, staff
from tests.races import at_once, own_connections


@pytest.fixture
def roles(db: None) -> None:
    sync_roles()


def of_role(name: str, role: str) -> tuple[User, Client]:
    user = User.objects.create(username=name, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    return user, signed_in(user)


def save(client: Client, user: User, **changes: Any) -> Any:
    """The form of an account as it is opened and sent with these changes."""
    return send(client, user, shown_to(client, user), **changes)


def shown_to(client: Client, user: User) -> str:
    """What the form of an account says that it shows; nothing to who may not open it."""
    return str((client.get(address(user)).context or {}).get("shown", ""))


def send(client: Client, user: User, shown: str, **changes: Any) -> Any:
    fields: dict[str, Any] = {
        "username": user.username,
        "is_active": "on" if user.is_active else "",
        "is_staff": "on" if user.is_staff else "",
        "is_superuser": "on" if user.is_superuser else "",
        "groups": [group.pk for group in user.groups.all()],
        SHOWN: shown,
    }
    return client.post(
        address(user), {name: value for name, value in (fields | changes).items() if value != ""}
    )


def errors(response: Any) -> str:
    return str(response.context["adminform"].form.errors)


def group(name: str) -> Group:
    return Group.objects.get(name=name)


@pytest.mark.usefixtures("roles")
@pytest.mark.parametrize("role", ["Catalogue editor", "Support", "Finance", "Operator"])
def test_other_roles_reach_neither_accounts_nor_groups(role: str) -> None:
    user, client = of_role("one", role)
    assert save(client, user, groups=[group(OWNER).pk]).status_code == 403
    assert client.get("/admin/auth/user/add/").status_code == 403
    assert client.post(f"/admin/auth/user/{user.pk}/password/", {}).status_code == 403
    assert client.post(address(group(role)), {"name": role}).status_code == 403
    assert list(user.groups.values_list("name", flat=True)) == [role]


@pytest.mark.usefixtures("roles")
def test_an_owner_gives_roles_and_cannot_make_superusers() -> None:
    _owner, client = of_role("owner", OWNER)
    one, _client = of_role("one", "Support")
    assert (
        save(client, one, groups=[group("Finance").pk, group(OWNER).pk], is_superuser="on").status_code == 302
    )
    one.refresh_from_db()
    assert not one.is_superuser
    assert set(one.groups.values_list("name", flat=True)) == {"Finance", OWNER}
    entry = AuditEntry.objects.get(action="user.change")
    assert (entry.actor, entry.before["groups"]) == ("owner", "Support")
    assert set(entry.after["groups"].split(", ")) == {"Finance", OWNER}


@pytest.mark.usefixtures("roles")
def test_an_owner_cannot_touch_a_superuser() -> None:
    _owner, client = of_role("owner", OWNER)
    chief = User.objects.create(username="chief", is_staff=True, is_superuser=True)
    assert client.get(address(chief)).status_code == 200  # to look at
    assert save(client, chief, is_active="").status_code == 403
    assert client.post(f"/admin/auth/user/{chief.pk}/password/", {}).status_code == 403
    assert client.post(address(chief, "do", "end-sessions"), {"reason": "x"}).status_code == 403


@pytest.mark.usefixtures("roles")
def test_nobody_gives_what_he_lacks() -> None:
    """An account that may edit staff without being an owner, and a group of more than it holds."""
    client = staff("clerk", "auth.view_user", "auth.change_user", "auth.change_group", "orders.view_order")
    clerk = User.objects.get(username="clerk")
    one = User.objects.create(username="one", is_staff=True)
    refused = save(client, one, groups=[group("Finance").pk])
    assert refused.status_code == 200
    assert "groups" in errors(refused)
    assert save(client, clerk, groups=[group(OWNER).pk]).status_code == 200
    assert not one.groups.exists()
    assert not clerk.groups.exists()
    one.groups.add(group("Finance"))
    assert save(client, one, groups=[]).status_code == 403  # may do more than the clerk
    User.objects.filter(pk=one.pk).update(is_active=False)
    assert save(client, one, is_active="on").status_code == 403  # also while it is switched off
    mine = Group.objects.create(name="Mine")
    beyond = Permission.objects.get(codename="change_order")
    held = Permission.objects.get(codename="view_order")
    form = {"name": "Mine", SHOWN: client.get(address(mine)).context["shown"]}
    refused = client.post(address(mine), form | {"permissions": [beyond.pk]})
    assert "permissions" in errors(refused)
    assert client.post(address(mine), form | {"permissions": [held.pk]}).status_code == 302
    assert list(mine.permissions.all()) == [held]


@pytest.mark.usefixtures("roles")
def test_single_permissions_are_not_given_by_a_hand_made_request() -> None:
    _owner, client = of_role("owner", OWNER)
    one, _client = of_role("one", "Support")
    save(client, one, user_permissions=[Permission.objects.get(codename="delete_order").pk])
    assert not one.user_permissions.exists()


@pytest.mark.usefixtures("roles")
def test_roles_are_not_edited_by_hand() -> None:
    client = signed_in(User.objects.create(username="chief", is_staff=True, is_superuser=True))
    assert client.get(address(group("Support"))).status_code == 200
    assert client.post(address(group("Support")), {"name": "Support"}).status_code == 403


@pytest.mark.usefixtures("roles")
@pytest.mark.parametrize("change", [{"is_active": ""}, {"is_staff": ""}, {"groups": []}])
def test_the_last_owner_stays(change: dict[str, Any]) -> None:
    owner, client = of_role("owner", OWNER)
    User.objects.create(username="gone", is_staff=True, is_superuser=True, is_active=False)
    refused = save(client, owner, **change)
    assert refused.status_code == 200
    assert "last owner" in errors(refused)
    second, _client = of_role("second", OWNER)
    assert save(client, second, **change).status_code == 302
    assert "last owner" in errors(save(client, owner, **change))


def owners_left_after_a_race() -> int:
    """Two owners switch each other off in the same moment."""
    sync_roles()
    (one, first), (two, second) = of_role("one", OWNER), of_role("two", OWNER)
    sent = [(first, two, shown_to(first, two)), (second, one, shown_to(second, one))]
    with own_connections():
        answers = at_once(2, lambda number: send(*sent[number], is_active="").status_code)
    assert set(answers) <= {200, 302}, answers
    return User.objects.filter(is_active=True).count()


@pytest.mark.django_db(transaction=True)
def test_two_owners_cannot_switch_each_other_off() -> None:
    assert owners_left_after_a_race() == 1


@pytest.mark.django_db(transaction=True)
def test_control_without_the_lock_both_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    met = Barrier(2)
    monkeypatch.setattr(locks, "lock_owners", lambda: None)
    clean = admin_staff.StaffForm.clean

    def together(form: Any) -> Any:
        found = clean(form)
        met.wait(timeout=10)
        return found

    monkeypatch.setattr(admin_staff.StaffForm, "clean", together)
    assert owners_left_after_a_race() == 0
