"""Members from outside: an added key opens the lease, a removed one opens nothing and cuts its sessions."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from core import clock
from core.errors import Refusal
from fleet.gateway import server
from fleet.models import AccessKey, Lease
from fleet.services.end import end_lease
from fleet.services.members import add_keys, revoke_key, rotate_key
from fleet.services.suspend import suspend
from fleet.services.sweep import advance_lease
from tests.factories.fleet import make_hold, make_lease, new_key
from tests.fleet import clients
from tests.fleet.clients import Buyer, in_thread

pytestmark = pytest.mark.django_db(transaction=True)
# The gateway looks each second; a slow machine gets the rest.
CUT_WITHIN_SECONDS = 5.0


def _add(buyer: Buyer, member: str = "") -> tuple[asyncssh.SSHKey, AccessKey]:
    key, public = new_key()
    (row,) = add_keys(order_ref=buyer.lease.order_ref, text=public.line, member=member, actor="buyer")
    return key, row


def _revoke(buyer: Buyer, row: AccessKey) -> None:
    revoke_key(order_ref=buyer.lease.order_ref, key_id=row.pk, actor="buyer")


@asynccontextmanager
async def _prompt(buyer: Buyer, **options: Any) -> AsyncIterator[tuple[Any, str, Any]]:
    """A session at its prompt, what greeted it, its connection; closed and waited for at the end."""
    async with buyer.connect(**options) as connection:
        process = await connection.create_process(term_type="xterm")
        greeting = await asyncio.wait_for(process.stdout.readuntil("$ "), timeout=10)
        yield process, greeting, connection
    await connection.wait_closed()


def test_an_added_key_opens_at_the_next_login_and_a_removed_one_no_longer(
    buyer: Buyer, tmp_path: Path
) -> None:
    key, row = _add(buyer, "Grace")
    line = clients.arguments(
        tmp_path,
        port=buyer.port,
        user=buyer.lease.username,
        key_file=clients.write_key(tmp_path, key, "second"),
    )
    assert clients.run(line, "hostname").returncode == 0
    _revoke(buyer, row)
    assert "Permission denied (publickey)" in clients.denied(line)


def test_a_removed_key_cuts_its_own_session_within_seconds_and_no_other(
    buyer: Buyer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the gateway's own pace, not that of the tests."""
    monkeypatch.setattr(server, "WATCH_SECONDS", 1.0)
    key, row = _add(buyer)

    async def talk() -> tuple[str, float, str]:
        async with (
            _prompt(buyer) as (own_process, _greeting, _own),
            _prompt(buyer, client_keys=[key]) as (process, _other_greeting, other),
        ):
            await in_thread(_revoke, buyer, row)
            began = time.monotonic()
            said = await asyncio.wait_for(process.stdout.read(), timeout=CUT_WITHIN_SECONDS)
            await asyncio.wait_for(other.wait_closed(), timeout=CUT_WITHIN_SECONDS)
            took = time.monotonic() - began
            own_process.stdin.write("hostname\n")
            still = await asyncio.wait_for(own_process.stdout.readuntil("$ "), timeout=10)
        return said, took, still

    said, took, still = asyncio.run(talk())
    assert "this key was removed from the lease, session closed" in said
    assert took < CUT_WITHIN_SECONDS
    assert "Simulated by AnchorGPU" in still


def test_a_replaced_key_is_cut_and_the_new_one_opens(buyer: Buyer) -> None:
    new, public = new_key()
    old = AccessKey.objects.get(lease=buyer.lease, purpose="buyer")

    def rotate() -> None:
        rotate_key(order_ref=buyer.lease.order_ref, key_id=old.pk, text=public.line, actor="buyer")

    async def talk() -> str:
        async with _prompt(buyer) as (process, _greeting, _connection):
            await in_thread(rotate)
            said = await asyncio.wait_for(process.stdout.read(), timeout=10)
        with pytest.raises(asyncssh.PermissionDenied):
            async with buyer.connect():
                pass
        async with buyer.connect(client_keys=[new]) as connection:
            assert (await connection.run("hostname")).exit_status == 0
        return str(said)

    assert "this key was removed" in asyncio.run(talk())


def test_the_words_of_the_cut_name_the_reason(buyer: Buyer) -> None:
    def move() -> None:
        Lease.objects.filter(pk=buyer.lease.pk).update(status="degraded", moving_at=clock.now())

    def back() -> None:
        Lease.objects.filter(pk=buyer.lease.pk).update(status="ready", moving_at=None)

    async def talk(act: Any, *args: Any, **options: Any) -> str:
        async with _prompt(buyer) as (process, _greeting, _connection):
            await in_thread(lambda: act(*args, **options))
            return str(await asyncio.wait_for(process.stdout.read(), timeout=10))

    assert "the lease is moving to other cards" in asyncio.run(talk(move))
    with pytest.raises(asyncssh.PermissionDenied):
        asyncio.run(talk(move))
    back()
    assert "access is paused" in asyncio.run(talk(suspend, order_ref=buyer.lease.order_ref))


def _skip_to(buyer: Buyer, minutes: int) -> None:
    assert buyer.lease.ends_at is not None
    clock.skip(buyer.lease.ends_at - clock.now() - timedelta(minutes=minutes))


def test_a_session_inside_the_window_is_greeted_with_what_is_left(buyer: Buyer) -> None:
    """The greeting has said it, so the 40-minute warning is not said again; the one at ten minutes comes."""
    _skip_to(buyer, 25)

    async def talk() -> tuple[str, str]:
        async with _prompt(buyer) as (process, greeting, _connection):
            await in_thread(_skip_to, buyer, 8)
            later = await asyncio.wait_for(process.stdout.readuntil("Save what you need."), timeout=10)
            await in_thread(clock.skip, timedelta(minutes=9))
            later += await asyncio.wait_for(process.stdout.read(), timeout=10)
        return greeting, later

    greeting, later = asyncio.run(talk())
    assert "UTC, in 24 min." in greeting or "UTC, in 25 min." in greeting
    assert later.count("Save what you need.") == 1
    assert "This lease ends in 8 minutes" in later
    assert "lease ended, session closed" in later


def test_a_second_session_of_one_connection_is_warned_too(buyer: Buyer) -> None:
    async def talk() -> list[str]:
        async with _prompt(buyer) as (first, _greeting, connection):
            second = await connection.create_process(term_type="xterm")
            await second.stdout.readuntil("$ ")
            await in_thread(_skip_to, buyer, 39)
            return [
                await asyncio.wait_for(one.stdout.readuntil("Save what you need."), timeout=10)
                for one in (first, second)
            ]

    assert all("This lease ends in 39 minutes" in said for said in asyncio.run(talk()))


def test_an_extension_is_told_and_the_warnings_begin_anew(buyer: Buyer) -> None:
    assert buyer.lease.ends_at is not None
    new_end = buyer.lease.ends_at + timedelta(days=3)

    def extend() -> None:
        Lease.objects.filter(pk=buyer.lease.pk).update(ends_at=new_end)

    def skip_to_new_end() -> None:
        clock.skip(new_end - clock.now() - timedelta(minutes=30))

    async def talk() -> str:
        async with _prompt(buyer) as (process, _greeting, _connection):
            await in_thread(_skip_to, buyer, 30)
            seen = await asyncio.wait_for(process.stdout.readuntil("Save what you need."), timeout=10)
            await in_thread(extend)
            seen += await asyncio.wait_for(process.stdout.readuntil("it is now"), timeout=10)
            process.stdin.write("lease\n")
            seen += await asyncio.wait_for(process.stdout.readuntil("left "), timeout=10)
            await in_thread(skip_to_new_end)
            seen += await asyncio.wait_for(process.stdout.readuntil("Save what you need."), timeout=10)
        return str(seen)

    seen = asyncio.run(talk())
    assert seen.count("This lease ends in 30 minutes") == 2
    assert f"ends         {new_end:%Y-%m-%d %H:%M} UTC" in seen


def test_s10_the_next_lease_of_the_same_cards_shares_nothing_with_the_last(
    buyer: Buyer, tmp_path: Path
) -> None:
    """The only node: while the wipe is not confirmed nothing is sold, then the cards go on without the old keys."""
    lot, ended = buyer.lease.hold.lot, buyer.lease
    _key, row = _add(buyer, "Grace")
    old = {row.fingerprint, *ended.keys.values_list("fingerprint", flat=True)}
    end_lease(lease_id=ended.pk, reason="term_over")
    with pytest.raises(Refusal, match="no_capacity"):
        make_hold(lot)
    advance_lease(lease_id=ended.pk)
    assert Lease.objects.get(pk=ended.pk).status == "closed"
    key, public = new_key()
    following = make_lease(lot, keys=[public])
    advance_lease(lease_id=following.pk)
    following.refresh_from_db()
    assert following.status == "ready", following.last_error
    assert following.username != ended.username
    assert not old & set(following.keys.values_list("fingerprint", flat=True))
    own = clients.write_key(tmp_path, key, "following")
    last = clients.write_key(tmp_path, buyer.key, "last")

    def line(user: str, file: Path) -> list[str]:
        return clients.arguments(tmp_path, port=buyer.port, user=user, key_file=file)

    assert clients.run(line(following.username, own), "hostname").returncode == 0
    for user in (ended.username, following.username):
        assert "Permission denied (publickey)" in clients.denied(line(user, last))
