"""The buyer's login: the system's ssh, or asyncssh's client where there is none. The host key is pinned."""

import asyncio
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import asyncssh

LOGIN_SECONDS = 20
_KEY_FILE = "id_ed25519"


class LoginFailed(Exception):
    """The login or the command did not work; the message says what was heard."""


@dataclass(frozen=True)
class KeyPair:
    """A fresh pair: the private half in a file that only we can read, the public half as one line."""

    file: Path
    public_line: str


@dataclass(frozen=True)
class Target:
    """Where the order page says that the login is."""

    host: str
    port: int
    user: str
    known_hosts_line: str


def new_key(folder: Path) -> KeyPair:
    key = asyncssh.generate_private_key("ssh-ed25519", comment="demo-buyer")
    file = folder / _KEY_FILE
    file.touch(mode=0o600)
    file.write_bytes(key.export_private_key("openssh"))
    return KeyPair(file=file, public_line=key.export_public_key("openssh").decode("ascii").strip())


def client_name() -> str:
    """Which client will be used."""
    return "ssh" if shutil.which("ssh") else "asyncssh"


def run(target: Target, key: KeyPair, command: str) -> str:
    """Log in, run the command, give its output. Raises LoginFailed."""
    known_hosts = key.file.with_name("known_hosts")
    known_hosts.write_text(target.known_hosts_line + "\n", encoding="ascii")
    ssh = shutil.which("ssh")
    if ssh is None:
        return _with_asyncssh(target, key, known_hosts, command)
    return _with_ssh(ssh, target, key, known_hosts, command)


def _with_ssh(ssh: str, target: Target, key: KeyPair, known_hosts: Path, command: str) -> str:
    arguments = [
        ssh, "-F", "none", "-p", str(target.port), "-i", str(key.file), "-o", "IdentitiesOnly=yes",
        "-o", f"UserKnownHostsFile={known_hosts}", "-o", "GlobalKnownHostsFile=none",
        "-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={LOGIN_SECONDS}",
        f"{target.user}@{target.host}", command,
    ]  # fmt: skip
    try:
        done = subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            timeout=LOGIN_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LoginFailed(f"ssh did not finish: {error}") from error
    if done.returncode != 0:
        raise LoginFailed(f"ssh ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def _with_asyncssh(target: Target, key: KeyPair, known_hosts: Path, command: str) -> str:
    async def log_in() -> str:
        async with asyncssh.connect(
            target.host,
            target.port,
            username=target.user,
            client_keys=[str(key.file)],
            known_hosts=str(known_hosts),
            agent_path=None,
            config=None,
            preferred_auth="publickey",
        ) as connection:
            return str((await connection.run(command, check=True)).stdout)

    try:
        return asyncio.run(asyncio.wait_for(log_in(), timeout=LOGIN_SECONDS))
    except (OSError, asyncssh.Error, TimeoutError) as error:
        raise LoginFailed(f"The login failed: {type(error).__name__}: {error}") from error
