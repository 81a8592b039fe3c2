"""Open sessions: when they are warned and cut, and how many there may be."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import asyncssh
import pytest

from core import clock
from fleet.gateway import logins, server
from fleet.models import AccessKey, Lease
from fleet.services.suspend import suspend
from tests.fleet import clients
from tests.fleet.clients import Buyer, in_thread

pytestmark = pytest.mark.django_db(transaction=True)


def _watch(buyer: Buyer, act: Callable[[], object]) -> str:
    """Open a prompt, act, read until the gateway closes; what stood there."""

    async def talk() -> str:
        connection = await buyer.connect()
        process = await connection.create_process(term_type="xterm")
        await process.stdout.readuntil("$ ")
        await in_thread(act)
        text = await asyncio.wait_for(process.stdout.read(), timeout=10)
        await asyncio.wait_for(connection.wait_closed(), timeout=10)
        return str(text)

    return asyncio.run(talk())


def test_removed_key_cuts_the_session(buyer: Buyer, ssh: list[str]) -> None:
    keys = AccessKey.objects.filter(lease=buyer.lease, purpose="buyer")
    text = _watch(buyer, lambda: keys.update(removed_at=clock.now()))
    assert "session closed" in text
    assert clients.run(ssh, "hostname").returncode == 255


def test_early_end_and_suspension_cut_the_session(buyer: Buyer) -> None:
    text = _watch(buyer, lambda: suspend(order_ref=buyer.lease.order_ref))
    assert "access is paused" in text


def test_end_of_term_closes_the_session_by_the_products_clock(buyer: Buyer, ssh: list[str]) -> None:
    """The state is still ready: no sweep has run since. The second counts, not the sweep."""
    assert buyer.lease.ends_at is not None
    left = buyer.lease.ends_at - clock.now()
    text = _watch(buyer, lambda: clock.skip(left))
    assert "lease ended, session closed" in text
    assert Lease.objects.get(pk=buyer.lease.pk).status == "ready"
    assert "Permission denied (publickey)" in clients.denied(ssh)


def test_warnings_come_once_each(buyer: Buyer, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[logins.Standing] = []
    look = logins.standing

    def counted(*, key_id: int) -> logins.Standing:
        looks.append(look(key_id=key_id))
        return looks[-1]

    monkeypatch.setattr(logins, "standing", counted)

    async def talk() -> str:
        connection = await buyer.connect()
        process = await connection.create_process(term_type="xterm")
        await process.stdout.readuntil("$ ")
        seen: str = ""
        assert buyer.lease.ends_at is not None
        for minutes in (39, 9):
            left = buyer.lease.ends_at - await in_thread(clock.now)
            await in_thread(clock.skip, left - timedelta(minutes=minutes))
            seen += await asyncio.wait_for(process.stdout.readuntil("Save what you need."), timeout=10)
        # Three more looks of the watcher bring nothing more.
        enough = len(looks) + 3
        while len(looks) < enough:
            await asyncio.sleep(0.05)
        await in_thread(clock.skip, timedelta(minutes=9))
        seen += await asyncio.wait_for(process.stdout.read(), timeout=10)
        connection.close()
        return seen

    seen = asyncio.run(talk())
    assert seen.count("This lease ends in 39 minutes") == 1
    assert seen.count("This lease ends in 9 minutes") == 1
    assert seen.count("Save what you need.") == 2
    assert "lease ended, session closed" in seen


def test_sessions_and_connections_are_bounded(buyer: Buyer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_SESSIONS_PER_CONNECTION", 2)
    monkeypatch.setattr(server, "MAX_CONNECTIONS_PER_LEASE", 1)

    async def talk() -> None:
        async with buyer.connect() as connection:
            for _session in range(2):
                await connection.create_process()
            with pytest.raises(asyncssh.ChannelOpenError):
                await connection.create_process()
            with pytest.raises((asyncssh.DisconnectError, asyncssh.ChannelOpenError)):
                async with buyer.connect() as second:
                    await second.run("hostname")
        # The place is free again.
        for _again in range(50):
            try:
                async with buyer.connect() as third:
                    assert (await third.run("hostname")).exit_status == 0
                    return
            except (asyncssh.DisconnectError, asyncssh.ChannelOpenError):
                await asyncio.sleep(0.05)
        raise AssertionError("The closed connection still counts.")

    asyncio.run(talk())


def test_silent_client_is_dropped(buyer: Buyer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time-out is a setting of the listener, so this one is started with a short one."""
    monkeypatch.setattr(server, "LOGIN_SECONDS", 0.3)

    async def knock() -> None:
        acceptor = await server.start(host="127.0.0.1", port=0)
        port = acceptor.get_port()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.wait_for(reader.read(), timeout=10)
        writer.close()
        acceptor.close()
        await acceptor.wait_closed()

    asyncio.run(knock())
