"""`manage.py ssh_gateway` as the supervisor runs it: ready line, stable host key, clean stop, clear refusals."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connection

from anchorgpu.services.ports import free_port
from core import clock
from core.models import SweepRun
from fleet.gateway import heartbeat
from fleet.gateway.identity import identity, listen_address, local_address
from tests.anchorgpu.processes import wait_for

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (
    "from django.core.management import execute_from_command_line as run; run(['manage.py', 'ssh_gateway'])"
)


def start(port: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={**os.environ, "SSH_LISTEN": f"127.0.0.1:{port}", "DATABASE_URL": database_url()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def database_url() -> str:
    """That of this test, so that the gateway can write into it."""
    return f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{connection.settings_dict['NAME']}"


def ready_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line: str = process.stdout.readline()
    return line


def stop(process: subprocess.Popen[str], number: int) -> tuple[int, str]:
    process.send_signal(number)
    _out, errors = process.communicate(timeout=10)
    return process.returncode, errors


@pytest.mark.django_db(transaction=True)
def test_host_key_is_the_same_after_a_restart() -> None:
    port = free_port()
    lines = []
    for number in (signal.SIGTERM, signal.SIGINT):
        process = start(port)
        lines.append(ready_line(process))
        # A client that is connected does not hold up the stop.
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            assert client.recv(100).startswith(b"SSH-2.0-AnchorGPU")
            assert stop(process, number) == (0, "")
    assert lines[0] == lines[1]
    assert lines[0].startswith(f"The SSH gateway listens on 127.0.0.1:{port}, host key SHA256:")
    assert identity().fingerprint in lines[0]


@pytest.mark.django_db(transaction=True)
def test_sign_of_life_is_written_once_it_listens() -> None:
    before = clock.system_now()
    process = start(free_port())
    assert ready_line(process)
    wait_for(SweepRun.objects.filter(name="gateway").exists, seconds=10, what="sign of life")
    assert stop(process, signal.SIGTERM) == (0, "")
    row = SweepRun.objects.get(name="gateway")
    assert row.last_started_at is not None
    assert before <= row.last_started_at <= clock.system_now()
    assert row.last_finished_at == row.last_started_at
    assert row.last_product_at is None  # demo_clock does not wait for it


def test_sign_of_life_outlives_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first beats fail; the first that succeeds tells the start, those after it only that it lives."""
    answers = iter([OperationalError(), None, None])
    asked: list[bool] = []

    def beat(*, is_first: bool) -> None:
        asked.append(is_first)
        answer = next(answers)
        if answer is not None:
            raise answer

    async def run() -> None:
        beating = asyncio.create_task(heartbeat.keep_beating())
        while len(asked) < 3:
            await asyncio.sleep(0.01)
        beating.cancel()

    monkeypatch.setattr(heartbeat, "beat", beat)
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.01)
    asyncio.run(asyncio.wait_for(run(), timeout=10))
    assert asked[:3] == [True, True, False]


def test_port_in_use_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start(port)
        _out, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("listen", "bound", "reached", "public"),
    [
        ("127.0.0.1:2222", ("127.0.0.1", 2222), ("127.0.0.1", 2222), "[127.0.0.1]:2222 "),
        ("0.0.0.0:2222", ("0.0.0.0", 2222), ("127.0.0.1", 2222), "[gpu.example]:2222 "),  # noqa: S104
        ("[::]:22", ("::", 22), ("::1", 22), "gpu.example "),
        ("10.1.2.3:22", ("10.1.2.3", 22), ("10.1.2.3", 22), "10.1.2.3 "),
    ],
)
def test_addresses(
    settings: Any, listen: str, bound: tuple[str, int], reached: tuple[str, int], public: str
) -> None:
    settings.SSH_LISTEN = listen
    settings.SITE_URL = "https://gpu.example/shop"
    assert listen_address() == bound
    assert local_address() == reached
    assert identity().known_hosts_line.startswith(public + "ssh-ed25519 ")


def test_malformed_address_and_key_file_are_named(settings: Any, tmp_path: Path) -> None:
    settings.SSH_LISTEN = "2222"
    with pytest.raises(ImproperlyConfigured, match="SSH_LISTEN"):
        identity()
    settings.SSH_LISTEN = "127.0.0.1:2222"
    broken = tmp_path / "key"
    broken.write_text("not a key")
    settings.SSH_HOST_KEY_FILE = str(broken)
    with pytest.raises(ImproperlyConfigured, match="SSH_HOST_KEY_FILE"):
        identity()


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_public_half_is_read_without_the_private_one(settings: Any, tmp_path: Path, kind: str) -> None:
    """Of a key under a passphrase that nobody gives."""
    path = tmp_path / "host_key"
    command = ["ssh-keygen", "-q", "-t", kind, "-N", "a passphrase", "-C", "", "-f", str(path)]
    subprocess.run(command, check=True, timeout=30)
    public = (tmp_path / "host_key.pub").read_text().strip()
    settings.SSH_HOST_KEY_FILE = str(path)
    assert identity().host_key == public
    assert identity().fingerprint == asyncssh.import_public_key(public).get_fingerprint("sha256")
