"""Keys of members as rows: what is taken, what is refused, what is told, and what two at once do."""

import threading
from collections.abc import Callable
from datetime import timedelta

import asyncssh
import pytest
from django.db import connection

from core import clock
from core.errors import Invalid, Refusal
from core.models import Event
from fleet.models import AccessKey, Lease
from fleet.selectors import members_of
from fleet.services import members
from fleet.services.members import add_keys, revoke_key, rotate_key
from tests.factories.fleet import make_lease, make_lot, new_key
from tests.fleet.rows import reload
from tests.fleet.test_keys import KEY, OTHER, WRAPPED

pytestmark = pytest.mark.django_db


def line() -> str:
    return new_key()[1].line


@pytest.fixture
def lease(db: None) -> Lease:
    """Paid and not prepared yet: members may be changed from here on."""
    return make_lease(make_lot(), keys=[new_key()[1]])


def living(lease: Lease) -> list[AccessKey]:
    return list(lease.keys.filter(removed_at=None).order_by("pk"))


def add(lease: Lease, text: str | list[str], member: str = "") -> list[AccessKey]:
    return add_keys(order_ref=lease.order_ref, text=text, member=member, actor="buyer")


def refused(code: str, act: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act()
    assert caught.value.code == code, caught.value
    assert "%(" not in caught.value.text
    return caught.value


def told(lease: Lease) -> list[tuple[str, str]]:
    events = Event.objects.filter(order_ref=lease.order_ref, name__startswith="lease.key_").order_by("pk")
    assert all(event.audience == "buyer" for event in events)
    return [(event.name, event.payload["fingerprint"]) for event in events]


def test_added_replaced_removed_each_with_its_event_and_a_new_version(lease: Lease) -> None:
    (first,) = living(lease)
    (second,) = add(lease, line(), " Grace\u00a0 Hopper ")
    assert (second.member, reload(lease).wanted_version) == ("Grace Hopper", 1)
    third = rotate_key(order_ref=lease.order_ref, key_id=second.pk, text=line(), actor="buyer")
    assert (third.member, reload(lease).wanted_version) == ("Grace Hopper", 2)
    revoke_key(order_ref=lease.order_ref, key_id=first.pk, actor="buyer")
    assert reload(lease).wanted_version == 3
    assert living(lease) == [third]
    assert told(lease) == [
        ("lease.key_added", second.fingerprint),
        ("lease.key_added", third.fingerprint),
        ("lease.key_removed", second.fingerprint),
        ("lease.key_removed", first.fingerprint),
    ]
    # What is removed may come back as a key of its own.
    assert add(lease, f"{first.algorithm} {first.data}")[0].fingerprint == first.fingerprint


@pytest.mark.parametrize(
    ("pasted", "kept"),
    [
        (f"{KEY}\r\n", KEY),
        (f"\ufeff \t{KEY.replace(' ', chr(0xA0))}", KEY),
        (WRAPPED.replace("\n", "\r\n"), KEY),
        (f"\u201c{KEY}\u201d", KEY),
        (f"{KEY} Анна с ноутбука", f"{KEY} Анна с ноутбука"),
        (f"{KEY} a\"b'c $(touch x) `id` <b> {{{{ x }}}}", f"{KEY} abc touch x id b  x"),
    ],
)
def test_s46_a_second_key_is_stored_as_one_clean_line(lease: Lease, pasted: str, kept: str) -> None:
    assert [row.line for row in add(lease, pasted)] == [kept]
    assert len(living(lease)) == 2


def test_s46_two_lines_are_two_keys_and_one_bad_line_refuses_both(lease: Lease) -> None:
    refused("key_rejected", lambda: add(lease, f"{KEY}\n{OTHER[:-20]}"))
    assert len(living(lease)) == 1
    assert [row.line for row in add(lease, f"{KEY}\r\n{OTHER}")] == [KEY, OTHER]


def test_s47_what_is_no_key_alone_is_refused(lease: Lease) -> None:
    private = asyncssh.generate_private_key("ssh-ed25519").export_private_key("openssh").decode()
    weak = asyncssh.generate_private_key("ssh-rsa", key_size=2048).export_public_key("openssh").decode()
    for text in (
        private,
        weak,
        f'command="/bin/sh" {KEY}',
        f"# mine\n{KEY}",
        f"{KEY}\n#!/bin/sh",
        KEY[:-20],
        "",
        "\n".join([line()] * 100),
        "\n".join(line() for _number in range(100)),
    ):
        assert refused("key_rejected", lambda text=text: add(lease, text)).field == "ssh_keys"  # type: ignore[misc]
    assert len(living(lease)) == 1
    assert told(lease) == []


def test_twice_in_one_lease_is_refused_and_in_two_is_not(lease: Lease) -> None:
    add(lease, KEY)
    assert "already" in refused("key_rejected", lambda: add(lease, f"{KEY} another comment")).text
    (row,) = living(lease)[:1]
    refused(
        "key_rejected",
        lambda: rotate_key(order_ref=lease.order_ref, key_id=row.pk, text=KEY, actor="buyer"),
    )
    assert add(make_lease(make_lot()), KEY)


def test_number_of_keys_and_of_changes_is_bounded(lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    for _time in range(2):
        add(lease, [line() for _number in range(9)])
    add(lease, line())
    assert len(living(lease)) == members.MAX_KEYS_PER_LEASE
    refused("key_rejected", lambda: add(lease, line()))
    # A full lease can still replace: the old key goes in the same step.
    rotate_key(order_ref=lease.order_ref, key_id=living(lease)[0].pk, text=line(), actor="buyer")
    monkeypatch.setattr(members, "MAX_ADDED_PER_HOUR", 20)

    def rotate() -> None:
        rotate_key(order_ref=lease.order_ref, key_id=living(lease)[0].pk, text=line(), actor="buyer")

    assert refused("rate_limited", rotate).status == 429
    clock.skip(timedelta(hours=1, seconds=1))
    rotate()


def test_the_last_key_stays_and_may_be_replaced(lease: Lease) -> None:
    (only,) = living(lease)

    def revoke() -> None:
        revoke_key(order_ref=lease.order_ref, key_id=only.pk, actor="buyer")

    assert "nobody could log in" in refused("last_key", revoke).text
    assert living(lease) == [only]
    rotate_key(order_ref=lease.order_ref, key_id=only.pk, text=line(), actor="buyer")
    refused("already_done", revoke)
    assert len(living(lease)) == 1


def test_s49_the_second_click_hears_already_done(lease: Lease) -> None:
    (row,) = add(lease, KEY)
    revoke_key(order_ref=lease.order_ref, key_id=row.pk, actor="buyer")
    version = reload(lease).wanted_version
    refused("already_done", lambda: revoke_key(order_ref=lease.order_ref, key_id=row.pk, actor="buyer"))
    refused(
        "already_done",
        lambda: rotate_key(order_ref=lease.order_ref, key_id=row.pk, text=OTHER, actor="buyer"),
    )
    assert reload(lease).wanted_version == version
    assert [name for name, _fingerprint in told(lease)] == ["lease.key_added", "lease.key_removed"]


def test_a_key_of_another_lease_is_not_found(lease: Lease) -> None:
    (foreign,) = living(make_lease(make_lot()))
    add(lease, KEY)
    for key_id in (foreign.pk, 10**30, 0):
        refused(
            "not_found",
            lambda key_id=key_id: revoke_key(order_ref=lease.order_ref, key_id=key_id, actor="buyer"),  # type: ignore[misc]
        )


def test_the_test_key_of_the_shop_is_no_members(lease: Lease) -> None:
    key = AccessKey.objects.create(
        lease=lease,
        purpose="test",
        algorithm="ssh-ed25519",
        data="x",
        fingerprint="SHA256:test",
        added_at=clock.now(),
    )
    refused("not_found", lambda: revoke_key(order_ref=lease.order_ref, key_id=key.pk, actor="buyer"))
    assert [member.fingerprint for member in members_of(lease)] == [living(lease)[0].fingerprint]


@pytest.mark.parametrize("status", ["ending", "wiping", "closed", "failed"])
def test_not_before_the_payment_and_not_after_the_end(lease: Lease, status: str) -> None:
    refused("not_ready", lambda: add_keys(order_ref="ord_none", text=KEY, actor="buyer"))
    Lease.objects.filter(pk=lease.pk).update(status=status)
    refused("lease_over", lambda: add(lease, KEY))


def test_not_after_the_end_by_the_clock(lease: Lease) -> None:
    moment = clock.now()
    Lease.objects.filter(pk=lease.pk).update(
        status="ready", ready_at=moment, ends_at=moment + timedelta(hours=1)
    )
    clock.skip(timedelta(hours=1))
    refused("lease_over", lambda: add(lease, KEY))


def test_the_name_of_a_member_is_text_from_people(lease: Lease) -> None:
    for name in ("x\x00", "\ud800", "x" * 61):
        with pytest.raises(Invalid) as caught:
            add(lease, KEY, name)
        assert caught.value.field == "member"


def _together(*acts: Callable[[], object]) -> list[str]:
    """Run them at once, each on a connection of its own; the code of each refusal."""
    barrier = threading.Barrier(len(acts))
    codes: list[str] = []

    def run(act: Callable[[], object]) -> None:
        barrier.wait()
        try:
            act()
            codes.append("")
        except Refusal as refusal:
            codes.append(refusal.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    return sorted(codes)


@pytest.mark.django_db(transaction=True)
def test_two_who_remove_the_last_two_keys_at_once_leave_one() -> None:
    """Without the lock on the lease both see two keys; the control below shows it."""
    lease = make_lease(make_lot(), keys=[new_key()[1], new_key()[1]])
    acts = [
        lambda key=key: revoke_key(order_ref=lease.order_ref, key_id=key.pk, actor="buyer")
        for key in living(lease)
    ]
    assert _together(*acts) == ["", "last_key"]
    assert len(living(lease)) == 1


@pytest.mark.django_db(transaction=True)
def test_control_without_the_lock_both_keys_go(monkeypatch: pytest.MonkeyPatch) -> None:
    both_have_looked = threading.Barrier(2)

    def unlocked(order_ref: str) -> Lease:
        return Lease.objects.get(order_ref=order_ref)

    def remove(lease: Lease, key: AccessKey, *, actor: str) -> None:
        both_have_looked.wait(timeout=10)
        AccessKey.objects.filter(pk=key.pk).update(removed_at=clock.now())

    monkeypatch.setattr("fleet.locks.lease_of_order_for_update", unlocked)
    monkeypatch.setattr(members, "_remove", remove)
    lease = make_lease(make_lot(), keys=[new_key()[1], new_key()[1]])
    acts = [
        lambda key=key: revoke_key(order_ref=lease.order_ref, key_id=key.pk, actor="buyer")
        for key in living(lease)
    ]
    assert _together(*acts) == ["", ""]
    assert living(lease) == []
