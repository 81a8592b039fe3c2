"""What tests of the fleet share: a provider that can be broken, logins without a gateway, a true gateway."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from anchorgpu.services.ports import free_port
from core import clock
from fleet import providers
from fleet.gateway import server
from fleet.services import try_login
from fleet.services.sweep import advance_lease
from tests.factories.fleet import make_lease, make_lot, new_key
from tests.fleet import clients
from tests.fleet.clients import Buyer
from tests.fleet.doubles import FaultyProvider


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> FaultyProvider:
    double = FaultyProvider()
    monkeypatch.setitem(providers._PROVIDERS, "simulated", lambda: double)
    return double


@pytest.fixture
def no_login(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The acceptance test's login is taken for good; the names that logged in. tests of the gateway do it truly."""
    names: list[str] = []

    def check_login(*, username: str, **_rest: Any) -> str:
        names.append(username)
        return ""

    monkeypatch.setattr(try_login, "check_login", check_login)
    return names


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let so many seconds pass on the system clock: pauses and claims run out, nobody sleeps."""
    real = clock.system_now
    passed = timedelta()

    def shifted() -> datetime:
        return real() + passed

    def step(seconds: float) -> None:
        nonlocal passed
        passed += timedelta(seconds=seconds)

    monkeypatch.setattr(clock, "system_now", shifted)
    return step


@pytest.fixture
def gateway(settings: Any, transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A listening gateway on a port of its own, that looks after its sessions often; its port."""
    monkeypatch.setattr(server, "WATCH_SECONDS", 0.1)
    port = free_port()
    settings.SSH_LISTEN = f"127.0.0.1:{port}"
    running = RunningGateway(port)
    running.start()
    yield port
    running.stop()


class RunningGateway:
    """The gateway on an event loop in a thread."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._acceptor: Any = None

    def start(self) -> None:
        self._thread.start()
        self._acceptor = self._call(server.start(host="127.0.0.1", port=self._port))

    def stop(self) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    async def _close(self) -> None:
        self._acceptor.close()
        await self._acceptor.wait_closed()
        # What clients have closed on their side is noticed here; their watchers end with it.
        for _look in range(200):
            if len(asyncio.all_tasks()) == 1:
                break
            await asyncio.sleep(0.01)
        await self._loop.shutdown_default_executor()

    def _call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=15)


@pytest.fixture
def buyer(gateway: int) -> Buyer:
    """Access as it really opens: the acceptance test of the worker has logged in through this gateway."""
    key, public = new_key()
    lease = make_lease(make_lot(cards=2, nodes=(2,)), keys=[public])
    advance_lease(lease_id=lease.pk)
    lease.refresh_from_db()
    assert lease.status == "ready", lease.last_error
    return Buyer(lease=lease, key=key, port=gateway)


@pytest.fixture
def ssh(buyer: Buyer, tmp_path: Path) -> list[str]:
    key_file = clients.write_key(tmp_path, buyer.key)
    return clients.arguments(tmp_path, port=buyer.port, user=buyer.lease.username, key_file=key_file)
