"""The last part of the acceptance test: a real login with a throw-away key, as the buyer will do it."""

import asyncio

import asyncssh

from fleet.providers.base import ProviderUnavailable

# Of this and the steps around it, the claim on the lease allows 30 s.
LOGIN_SECONDS = 12


class LoginFailed(ProviderUnavailable):
    """The login did not work or showed other cards than ordered."""


def throwaway_key() -> tuple[asyncssh.SSHKey, str]:
    """A fresh pair for one login and its public line; the private half is never stored."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    return key, key.export_public_key("openssh").decode("ascii")


def check_login(
    *,
    host: str,
    port: int,
    username: str,
    key: asyncssh.SSHKey,
    host_key_line: str,
    client_version: str,
    card_count: int,
) -> str:
    """Log in, count the cards that `nvidia-smi -L` lists; its output. Raises LoginFailed.

    The host key is pinned: a machine in between would fail the test.
    """
    run = _run(host, port, username, key, host_key_line, client_version)
    try:
        output = asyncio.run(asyncio.wait_for(run, timeout=LOGIN_SECONDS))
    except (OSError, asyncssh.Error, TimeoutError) as error:
        raise LoginFailed(f"Login failed: {type(error).__name__}: {error}") from error
    found = sum(line.startswith("GPU ") for line in output.splitlines())
    if found != card_count:
        raise LoginFailed(f"The login shows {found} cards instead of {card_count}.")
    return output


async def _run(
    host: str, port: int, username: str, key: asyncssh.SSHKey, host_key_line: str, client_version: str
) -> str:
    pinned = asyncssh.import_public_key(host_key_line)
    async with asyncssh.connect(
        host,
        port,
        username=username,
        client_keys=[key],
        known_hosts=([pinned], [], []),
        client_version=client_version,
        agent_path=None,
        config=None,
        preferred_auth="publickey",
        login_timeout=LOGIN_SECONDS,
    ) as connection:
        result = await connection.run("nvidia-smi -L", check=True)
    return str(result.stdout)
