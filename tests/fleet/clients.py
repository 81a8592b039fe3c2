"""Clients for tests that log in as a buyer does: the machine's OpenSSH and asyncssh's own."""

import asyncio
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import asyncssh

from fleet.gateway.identity import identity
from fleet.gateway.logins import with_connection
from fleet.models import Lease

R = TypeVar("R")


def openssh() -> str:
    """The program, or a sentence that says what is missing."""
    found = shutil.which("ssh")
    assert found, "These tests need an SSH client: install the package openssh-client."
    return found


def write_key(folder: Path, key: asyncssh.SSHKey, name: str = "id") -> Path:
    path = folder / name
    key.write_private_key(str(path))
    path.chmod(0o600)
    return path


def arguments(folder: Path, *, port: int, user: str, key_file: Path) -> list[str]:
    """A login with the host key pinned by the line that buyers are given."""
    known_hosts = folder / "known_hosts"
    known_hosts.write_text(identity().known_hosts_line + "\n", encoding="ascii")
    options = {
        "BatchMode": "yes",
        "IdentitiesOnly": "yes",
        "StrictHostKeyChecking": "yes",
        "UserKnownHostsFile": str(known_hosts),
        "GlobalKnownHostsFile": "/dev/null",
        "ConnectTimeout": "10",
    }
    line = [openssh(), "-F", "/dev/null", "-p", str(port), "-i", str(key_file)]
    for name, value in options.items():
        line += ["-o", f"{name}={value}"]
    return [*line, f"{user}@127.0.0.1"]


def run(line: list[str], *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*line, *words], input=typed, capture_output=True, text=True, timeout=20, check=False
    )


async def in_thread(function: Callable[..., R], *args: Any) -> R:
    """A call that uses the database, from a test on an event loop; the connection goes back to the pool."""
    return await asyncio.to_thread(with_connection(function), *args)


@dataclass(frozen=True)
class Buyer:
    """An open lease and the key that opens it."""

    lease: Lease
    key: asyncssh.SSHKey
    port: int

    def connect(self, **options: Any) -> Any:
        pinned = asyncssh.import_public_key(identity().host_key)
        return asyncssh.connect(
            "127.0.0.1",
            self.port,
            **{
                "username": self.lease.username,
                "client_keys": [self.key],
                "known_hosts": ([pinned], [], []),
                "agent_path": None,
                "config": None,
                **options,
            },
        )


def denied(line: list[str]) -> str:
    """What a refused login hears, with the user name taken out."""
    done = run(line, "hostname")
    assert done.returncode == 255
    assert done.stdout == ""
    return done.stderr.replace(line[-1].split("@", maxsplit=1)[0], "USER")
