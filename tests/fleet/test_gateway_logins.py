"""Who may log in: every wrong login looks alike, the host is pinned, the acceptance test logs in too."""

import asyncio
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from core import clock
from core.models import Event
from fleet.gateway import logins, server
from fleet.gateway.identity import identity
from fleet.gateway.logins import find_login
from fleet.keys import parse_keys
from fleet.models import AccessKey
from fleet.services.end import end_lease
from fleet.services.sweep import advance_lease
from tests.factories.fleet import make_lease, make_lot, new_key
from tests.fleet import clients
from tests.fleet.clients import Buyer, in_thread
from tests.fleet.doubles import FaultyProvider

pytestmark = pytest.mark.django_db(transaction=True)


def test_wrong_logins_look_alike(buyer: Buyer, ssh: list[str], tmp_path: Path, monkeypatch: Any) -> None:
    """Unknown user, another lease's key, a lease that has not started, one that is over, a removed key."""
    stranger, stranger_public = new_key()
    waiting = make_lease(make_lot(cards=1, nodes=(1,)), keys=[stranger_public])
    key_file = clients.write_key(tmp_path, stranger, "stranger")

    def line(user: str, file: Path) -> list[str]:
        return clients.arguments(tmp_path, port=buyer.port, user=user, key_file=file)

    answers = {
        "unknown user": clients.denied(line("nobody", key_file)),
        "another lease's key": clients.denied(line(buyer.lease.username, key_file)),
        "not started": clients.denied(line(waiting.username, key_file)),
    }
    AccessKey.objects.filter(lease=buyer.lease).update(removed_at=clock.now())
    answers["removed key"] = clients.denied(ssh)
    AccessKey.objects.filter(lease=buyer.lease, purpose="buyer").update(removed_at=None)
    assert clients.run(ssh, "hostname").returncode == 0
    end_lease(lease_id=buyer.lease.pk, reason="test")
    answers["ended"] = clients.denied(ssh)
    assert len(set(answers.values())) == 1, answers
    assert "Permission denied (publickey)" in answers["ended"]


def test_wrong_logins_take_the_same_queries(
    buyer: Buyer, django_assert_num_queries: Callable[..., Any]
) -> None:
    """Each wrong login is one look at the keys (the demo's clock is read only where a row was found)."""
    own = AccessKey.objects.get(lease=buyer.lease, purpose="buyer").fingerprint
    with django_assert_num_queries(1):
        assert find_login(username="nobody", fingerprint=own) is None
    with django_assert_num_queries(1):
        assert find_login(username=buyer.lease.username, fingerprint="SHA256:other") is None


def test_no_password_is_asked(buyer: Buyer) -> None:
    async def methods() -> list[str]:
        return list(await asyncssh.get_server_auth_methods("127.0.0.1", buyer.port, username="root"))

    assert asyncio.run(methods()) == ["publickey"]


def test_test_key_opens_only_a_lease_under_test(buyer: Buyer) -> None:
    key, public = new_key()
    AccessKey.objects.create(
        lease=buyer.lease,
        purpose="test",
        algorithm=public.algorithm,
        data=public.data,
        fingerprint=public.fingerprint,
        added_at=clock.now(),
    )

    async def login() -> None:
        async with buyer.connect(client_keys=[key]):
            pass

    with pytest.raises(asyncssh.PermissionDenied):
        asyncio.run(login())


def test_every_login_is_in_the_log(buyer: Buyer, ssh: list[str]) -> None:
    for _time in range(3):
        assert clients.run(ssh, "hostname").returncode == 0
    logged = Event.objects.filter(name="lease.login", order_ref=buyer.lease.order_ref)
    _wait_until(lambda: logged.count() == 3)
    own = AccessKey.objects.get(lease=buyer.lease, purpose="buyer").fingerprint
    assert [event.payload for event in logged] == [
        {"fingerprint": own, "member": "", "network": "127.0.0.0/24"}
    ] * 3


def test_a_flood_of_logins_is_told_once_a_minute(buyer: Buyer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "LOGINS_TOLD_PER_HOUR", 3)
    key_id = AccessKey.objects.get(lease=buyer.lease, purpose="buyer").pk
    told = [logins.record_login(key_id=key_id, address="10.1.2.3") for _time in range(5)]
    assert told == [True, True, True, False, False]
    clock.skip(timedelta(minutes=2))
    assert logins.record_login(key_id=key_id, address="10.1.2.3")
    assert not logins.record_login(key_id=key_id, address="10.1.2.3")
    assert Event.objects.filter(name="lease.login").count() == 4


def _wait_until(condition: Callable[[], bool]) -> None:
    async def poll() -> None:
        while not await in_thread(condition):
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(poll(), timeout=10))


def test_too_many_tries_are_cut(buyer: Buyer) -> None:
    wrong = [new_key()[0] for _ in range(server.MAX_AUTH_TRIES + 1)]

    async def login() -> None:
        async with buyer.connect(client_keys=[*wrong, buyer.key]):
            pass

    with pytest.raises(asyncssh.DisconnectError):
        asyncio.run(login())


def test_host_key_is_that_of_the_file_and_pinned(ssh: list[str], tmp_path: Path, settings: Any) -> None:
    scanned = subprocess.run(
        ["ssh-keygen", "-y", "-f", settings.SSH_HOST_KEY_FILE], capture_output=True, text=True, check=True
    ).stdout.split()[:2]
    assert identity().host_key.split() == scanned
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key("openssh").decode()
    known = tmp_path / "known_hosts"
    known.write_text(" ".join([identity().known_hosts_line.split()[0], *other.split()[:2]]) + "\n")
    done = clients.run(ssh, "hostname")
    assert done.returncode == 255
    assert "Host key verification failed" in done.stderr


def test_stored_line_of_a_wrapped_paste_logs_in(gateway: int, tmp_path: Path) -> None:
    """S46: what was pasted with curly quotes, in pieces and with line ends of Windows opens the lease."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    line = key.export_public_key("openssh").decode().strip()
    pasted = "\ufeff\u201c" + line[:60] + "\r\n" + line[60:] + "\u201d\r\n"
    lease = make_lease(make_lot(cards=1, nodes=(1,)), keys=parse_keys(pasted))
    advance_lease(lease_id=lease.pk)
    assert AccessKey.objects.get(lease=lease, purpose="buyer").line == line
    arguments = clients.arguments(
        tmp_path, port=gateway, user=lease.username, key_file=clients.write_key(tmp_path, key)
    )
    assert clients.run(arguments, "hostname").returncode == 0


def test_wrong_host_key_fails_the_acceptance_test(gateway: int, settings: Any, tmp_path: Path) -> None:
    other = tmp_path / "other_host_key"
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(other))
    settings.SSH_HOST_KEY_FILE = str(other)
    lease = make_lease(make_lot(cards=1, nodes=(1,)))
    advance_lease(lease_id=lease.pk)
    lease.refresh_from_db()
    assert lease.status == "testing"
    assert "Login failed" in lease.last_error


def test_fewer_cards_at_login_fail_the_acceptance_test(
    gateway: int, provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fleet.gateway.screens.smi_list", lambda login: "GPU 0: one only\n")
    lease = make_lease(make_lot(cards=2, nodes=(2,)))
    advance_lease(lease_id=lease.pk)
    lease.refresh_from_db()
    assert lease.status == "testing"
    assert "shows 1 cards instead of 2" in lease.last_error
