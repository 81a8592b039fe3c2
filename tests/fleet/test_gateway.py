"""The gateway from outside: what answers, and what is refused."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import asyncssh
import pytest

from fleet.models import AccessKey
from tests.fleet import clients
from tests.fleet.clients import Buyer

pytestmark = pytest.mark.django_db(transaction=True)


def test_acceptance_test_logged_in_and_left_no_key(buyer: Buyer) -> None:
    assert buyer.lease.test_report["login"]["user"] == buyer.lease.username
    tests = AccessKey.objects.filter(lease=buyer.lease, purpose="test")
    assert tests.count() == 1
    assert not tests.filter(removed_at=None).exists()


def test_nvidia_smi(ssh: list[str]) -> None:
    done = clients.run(ssh, "nvidia-smi")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Simulated by AnchorGPU.")
    assert "Driver Version: 570.86.15" in done.stdout
    assert done.stdout.count("0MiB / 76293MiB") == 2
    assert done.stdout.count("0W / 700W") == 2
    table = [line for line in done.stdout.splitlines() if line[:1] in {"|", "+"}]
    assert {len(line) for line in table} == {91}
    assert "\r" not in done.stdout


def test_list_counts_the_cards(ssh: list[str], buyer: Buyer) -> None:
    done = clients.run(ssh, "nvidia-smi", "-L")
    gpus = [line for line in done.stdout.splitlines() if line.startswith("GPU ")]
    assert len(gpus) == 2
    assert len(set(gpus)) == 2


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("nvidia-smi -q", "Attached GPUs"),
        ("hostname", "node-"),
        ("lease", "PyTorch"),
        ("df -h", "/scratch"),
        ("help", "nvidia-smi -L"),
        ("  nvidia-smi   -L ", "GPU 1"),
    ],
)
def test_other_screens_are_marked_too(ssh: list[str], command: str, expected: str) -> None:
    done = clients.run(ssh, command)
    assert done.returncode == 0
    assert "Simulated by AnchorGPU" in done.stdout
    assert expected in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/passwd",
        "sh",
        "nvidia-smi; id",
        "nvidia-smi && sh",
        "$(id)",
        "nvidia-smi -L | sh",
        "scp -t /tmp",
        "x" * 5000,
        "a\x1b]0;title\x07",
    ],
)
def test_other_commands_are_not_found(ssh: list[str], command: str) -> None:
    done = clients.run(ssh, command)
    assert done.returncode == 127
    assert done.stdout == ""
    assert "command not found" in done.stderr
    assert "\x1b" not in done.stderr
    assert "uid=" not in done.stderr


def test_prompt_without_terminal_writes_plain_lines(ssh: list[str]) -> None:
    done = clients.run(ssh, typed="hostname\nnope\nexit\nhostname\n")
    assert done.returncode == 127
    assert done.stdout.count("node-") == 1
    assert "\r" not in done.stdout


@pytest.mark.parametrize("length", [201, 70_000, 5_000_000])
def test_a_line_that_is_too_long_is_answered_once(ssh: list[str], length: int) -> None:
    done = clients.run(ssh, typed="x" * length + "\nhostname\n")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("line too long") == 1
    assert "not found" not in done.stderr


@pytest.mark.parametrize("term_type", ["xterm", None])
def test_bytes_that_are_no_text_do_not_end_the_connection(buyer: Buyer, term_type: str | None) -> None:
    async def talk() -> tuple[str, int | None]:
        async with buyer.connect() as connection:
            process = await connection.create_process(term_type=term_type, encoding=None)
            process.stdin.write(b"\xff\xfe\x80\xc3(" + (b"\r" if term_type else b"\n"))
            process.stdin.write(b"hostname\rexit\r" if term_type else b"hostname\nexit\n")
            output = await asyncio.wait_for(process.stdout.read(), timeout=10)
            await process.wait_closed()
            return bytes(output).decode(), process.exit_status

    output, status = asyncio.run(talk())
    assert "\nnode-" in output.replace("\r\n", "\n")
    assert status == 0


def test_prompt_with_terminal(buyer: Buyer) -> None:
    async def talk() -> tuple[str, int | None]:
        async with buyer.connect() as connection:
            process = await connection.create_process(term_type="xterm", term_size=(80, 24))
            # A wrong letter and backspace; Ctrl-C throws a line away; Ctrl-D ends.
            process.stdin.write("hostnamx\x7fe\r")
            process.stdin.write("garbage\x03")
            process.channel.change_terminal_size(100, 30)
            process.stdin.write("lease\r")
            process.stdin.write("y" * 500 + "\x15")
            process.stdin.write("\x04")
            output = await process.stdout.read()
            await process.wait_closed()
            return output, process.exit_status

    output, status = asyncio.run(talk())
    assert "Type help for the commands" in output
    name = next(line for line in output.split("\r\n") if line.startswith("node-"))
    assert output.count(f"{buyer.lease.username}@{name}:~$ ") >= 4
    assert "^C" in output
    assert "environment" in output, output
    assert "command not found" not in output
    assert status == 0
    assert "\n" not in output.replace("\r\n", "")
    assert output.count("y") < 250


def test_sftp_and_scp_are_refused(buyer: Buyer, ssh: list[str]) -> None:
    done = clients.run([*ssh[:-1], "-s", ssh[-1]], "sftp")
    assert done.returncode != 0
    assert "subsystem request failed" in done.stderr

    async def sftp() -> None:
        async with buyer.connect() as connection:
            await connection.start_sftp_client()

    with pytest.raises(asyncssh.Error):
        asyncio.run(sftp())


def test_forwarding_is_refused(buyer: Buyer) -> None:
    async def attempt(open_it: Callable[[asyncssh.SSHClientConnection], Coroutine[Any, Any, Any]]) -> None:
        async with buyer.connect() as connection:
            await open_it(connection)

    async def local(connection: asyncssh.SSHClientConnection) -> None:
        await connection.open_connection("127.0.0.1", buyer.port)

    async def remote(connection: asyncssh.SSHClientConnection) -> None:
        await connection.start_server(lambda *_: None, "127.0.0.1", 0)

    async def unix(connection: asyncssh.SSHClientConnection) -> None:
        await connection.open_unix_connection("/tmp/socket")

    async def tunnel(connection: asyncssh.SSHClientConnection) -> None:
        await connection.open_tun()

    async def x11(connection: asyncssh.SSHClientConnection) -> None:
        await connection.create_process("lease", x11_forwarding=True, x11_display="localhost:0")

    for one in (local, remote, unix, tunnel, x11):
        with pytest.raises((asyncssh.Error, asyncssh.ChannelListenError, OSError)):
            asyncio.run(attempt(one))


def test_client_with_forwarding_asked_still_gets_none(ssh: list[str]) -> None:
    line = [*ssh[:-1], "-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:9", ssh[-1]]
    done = clients.run(line, "hostname")
    assert done.returncode == 255
    assert "forwarding failed" in done.stderr


def test_environment_of_the_client_changes_nothing(buyer: Buyer) -> None:
    async def run(**options: Any) -> str:
        async with buyer.connect() as connection:
            result = await connection.run("hostname", check=True, **options)
            return str(result.stdout)

    plain = asyncio.run(run())
    assert asyncio.run(run(env={"PATH": "/tmp", "LD_PRELOAD": "/tmp/x.so"})) == plain
