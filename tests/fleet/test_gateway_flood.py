"""Floods of connections that never log in: the shop's acceptance login and a buyer's still get through."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import asyncssh
import pytest

from fleet.gateway import server, waiting
from fleet.gateway.waiting import LIMITS, Stage, Waiting, WaitingRoom, acceptance_version, is_acceptance
from fleet.services.sweep import advance_lease
from tests.factories.fleet import make_lease, make_lot, new_key
from tests.fleet.clients import Buyer

IDLE = 120


class Flood:
    """Idle connections on a loop of their own. Each is opened again as soon as it is closed."""

    def __init__(self, port: int, hello: bytes) -> None:
        self._port = port
        self._hello = hello
        self._loop = asyncio.new_event_loop()
        self._tasks: list[asyncio.Task[None]] = []
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.opened = 0

    def start(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(timeout=10)
        deadline = time.monotonic() + 10
        while self.opened < IDLE and time.monotonic() < deadline:
            time.sleep(0.01)
        assert self.opened >= IDLE

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    async def _start(self) -> None:
        self._tasks = [asyncio.create_task(self._one()) for _number in range(IDLE)]

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _one(self) -> None:
        while True:
            writer = None
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                self.opened += 1
                writer.write(self._hello)
                await reader.read()
            except OSError:
                await asyncio.sleep(0.01)
            finally:
                if writer is not None:
                    writer.transport.abort()


@contextmanager
def flood(port: int, hello: bytes = b"") -> Iterator[Flood]:
    running = Flood(port, hello)
    running.start()
    try:
        yield running
    finally:
        running.stop()


def hostname(buyer: Buyer) -> str:
    async def ask() -> str:
        async with asyncio.timeout(5), buyer.connect() as connection:
            return str((await connection.run("hostname", check=True)).stdout)

    return asyncio.run(ask())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("hello", [b"", b"SSH-2.0-nobody\r\n"], ids=["silent", "greeting"])
def test_logins_succeed_within_seconds_under_a_flood(
    buyer: Buyer, monkeypatch: pytest.MonkeyPatch, hello: bytes
) -> None:
    """All come from one address. The places are fewer than the flood, so that it churns all the time."""
    monkeypatch.setitem(LIMITS, Stage.SILENT, 100)
    monkeypatch.setitem(LIMITS, Stage.GREETED, 100)
    _key, public = new_key()
    other = make_lease(make_lot(cards=2, nodes=(2,)), keys=[public])
    with flood(buyer.port, hello) as running:
        before = running.opened
        started = time.monotonic()
        advance_lease(lease_id=other.pk)
        assert time.monotonic() - started < 5
        other.refresh_from_db()
        assert other.status == "ready", other.last_error
        started = time.monotonic()
        assert "node-" in hostname(buyer)
        assert time.monotonic() - started < 5
        assert running.opened > before, "The flood stood still: it proved nothing."


@pytest.mark.django_db(transaction=True)
def test_control_a_full_house_that_turns_newcomers_away_lets_nobody_in(
    buyer: Buyer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rule that is not used: the first to come keep their places."""

    def turn_away(room: WaitingRoom, newcomer: Waiting) -> None:
        if len(room._waiting) >= 20:
            newcomer.drop()
        else:
            room._waiting[newcomer] = None

    monkeypatch.setattr(WaitingRoom, "enter", turn_away)
    with flood(buyer.port), pytest.raises((asyncssh.Error, OSError, TimeoutError)):
        hostname(buyer)


def guest(dropped: list[str], name: str, network: str, version: str = "") -> Waiting:
    return Waiting(network=network, version=lambda: version, drop=lambda: dropped.append(name))


def fill(room: WaitingRoom, dropped: list[str], count: int, network: str, version: str = "") -> None:
    for number in range(count):
        room.enter(guest(dropped, f"{network}-{number}", network, version))


def test_the_oldest_of_the_largest_network_goes() -> None:
    room, dropped = WaitingRoom(), list[str]()
    room.enter(guest(dropped, "lone", "10.0.0.0/24"))
    fill(room, dropped, LIMITS[Stage.SILENT] + 2, "10.9.9.0/24")
    assert dropped == ["10.9.9.0/24-0", "10.9.9.0/24-1", "10.9.9.0/24-2"]


def test_a_client_under_way_is_no_victim_of_those_who_say_nothing() -> None:
    room, dropped = WaitingRoom(), list[str]()
    greeted = guest(dropped, "greeted", "net", "SSH-2.0-OpenSSH_9")
    under_way = guest(dropped, "under way", "net", "SSH-2.0-OpenSSH_9")
    shop = guest(dropped, "shop", "net", "SSH-2.0-" + acceptance_version())
    for one in (greeted, under_way, shop):
        room.enter(one)
    under_way.begin_login()
    fill(room, dropped, 3 * LIMITS[Stage.SILENT], "net")
    assert not {"greeted", "under way", "shop"} & set(dropped)
    fill(room, dropped, 3 * LIMITS[Stage.GREETED], "net", "SSH-2.0-x")
    assert "greeted" in dropped
    assert not {"under way", "shop"} & set(dropped)
    shop.begin_login()
    assert shop.stage == Stage.ACCEPTANCE


def test_who_has_left_holds_no_place() -> None:
    room, dropped = WaitingRoom(), list[str]()
    early = [guest(dropped, "early", "net") for _ in range(LIMITS[Stage.SILENT])]
    for one in early:
        room.enter(one)
    for one in early:
        room.leave(one)
    fill(room, dropped, LIMITS[Stage.SILENT], "net")
    assert dropped == []


def test_the_reserve_is_for_the_shop_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    version = "SSH-2.0-" + acceptance_version()
    assert is_acceptance(version)
    assert len(version) < 250
    assert not is_acceptance("SSH-2.0-OpenSSH_9.2")
    assert not is_acceptance(version[:-1])
    assert not is_acceptance("SSH-2.0-AnchorGPU_acceptance_")
    monkeypatch.setattr(waiting, "_VERSION_SECONDS", -1)
    assert not is_acceptance(version)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("hello", [b"", b"SSH-2.0-nobody\r\n"], ids=["silent", "greeting"])
def test_no_key_exchange_no_waiting(buyer: Buyer, monkeypatch: pytest.MonkeyPatch, hello: bytes) -> None:
    """The passphrase may take its time; what comes before it may not."""
    monkeypatch.setattr(server, "EXCHANGE_SECONDS", 0.3)

    async def knock() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", buyer.port)
        writer.write(hello)
        async with asyncio.timeout(5):
            assert (await reader.read()).startswith(b"SSH-2.0-AnchorGPU")
        writer.close()

    asyncio.run(knock())
    assert server.LOGIN_SECONDS == 30
