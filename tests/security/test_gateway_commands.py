"""SSH: whatever a login sends as a command, it gets a screen or a refusal in plain letters, and no program starts."""

import ast
import asyncio
import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.gateway import server, shell
from fleet.gateway.logins import Login

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
LOGIN = Login(
    key_id=1,
    lease_id=1,
    username="l-1",
    is_test=False,
    image="pt-cu128",
    stack="CUDA",
    stack_version="12.8",
    driver="580.65",
    nvme_gb=None,
    cards=(),
    ends_at=NOW + timedelta(days=1),
)
# Modules that start programs or leave the process.
STARTERS = {"subprocess", "pty", "multiprocessing", "ctypes", "importlib", "runpy", "code"}
CALLS = {"system", "popen", "exec", "eval", "compile", "__import__", "fork", "posix_spawn", "spawn"}
ESCAPES = st.sampled_from(
    [
        "; sh",
        "&& id",
        "| sh",
        "$(id)",
        "`id`",
        "\nsh",
        "../../bin/sh",
        "-oProxyCommand=id",
        "\x1b]0;x\x07",
        "\x00",
    ]
)
COMMANDS = st.one_of(
    st.text(max_size=300),
    st.builds("{}{}".format, st.sampled_from(sorted(shell._SCREENS)), ESCAPES),
    st.lists(ESCAPES, max_size=5).map(" ".join),
    st.text(alphabet="nvidia-smi LqhostnamedfhS;|&$()`<>\\\"' \t", max_size=260),
)


class Process:
    """What a session writes, and with which status it ends."""

    def __init__(self) -> None:
        self.stdout, self.stderr = io.StringIO(), io.StringIO()


def answer(command: str) -> tuple[int, str, str]:
    process: Any = Process()
    status = asyncio.run(shell._answer(process, LOGIN, command))
    return status, process.stdout.getvalue(), process.stderr.getvalue()


@settings(max_examples=150, deadline=None)
@given(COMMANDS)
def test_no_command_is_more_than_a_screen_or_a_refusal(command: str) -> None:
    words = " ".join(command.split())
    if words in shell._SCREENS and len(command) <= shell.MAX_LINE:
        return
    status, written, refused = answer(command)
    assert written == ""
    if not words or words in shell._GOODBYES:
        assert (status, refused) == (0, "")
        return
    assert status == shell.NOT_FOUND
    assert "command not found" in refused
    assert refused.rstrip("\n").isprintable()
    assert refused.isascii()
    assert len(refused) < 200


@pytest.mark.parametrize(
    "file", sorted(Path(server.__file__).parent.glob("*.py")), ids=lambda file: file.name
)
def test_the_gateway_can_start_no_program(file: Path) -> None:
    """Not by a rule for each command: nothing in it could."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            is_pattern = isinstance(node.func, ast.Attribute) and called == "compile"
            assert called not in CALLS or is_pattern, (file.name, called)
        assert not STARTERS & {name.partition(".")[0] for name in names}, file.name


def test_what_the_library_could_do_beside_a_session_is_not_wired() -> None:
    """Forwarding of ports and sockets is granted by a method that this server does not have."""
    own = set(vars(server.Connection))
    granted = {
        "connection_requested",
        "server_requested",
        "unix_connection_requested",
        "unix_server_requested",
    }
    assert not own & (granted | {"tun_requested", "tap_requested"})
