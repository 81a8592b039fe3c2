"""Listening ports: below the ephemeral range, so that no client's own port collides with a server of ours."""

import errno
import random
import socket

from anchorgpu.services.errors import ServiceError

# Linux hands out 32768-60999 to outgoing connections; a listener there fails at random.
LOWEST, HIGHEST = 20000, 32000
LOCALHOST = "127.0.0.1"


def port_problem(port: int, *, host: str = LOCALHOST) -> str | None:
    """Why nothing can listen on this port, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return "is in use by another program"
            if error.errno == errno.EACCES:
                return "needs rights that this user does not have"
            return f"cannot be used ({error.strerror})"
    return None


def free_port(*, preferred: int | None = None) -> int:
    """The preferred port if it is free, else a random free one."""
    if preferred is not None and port_problem(preferred) is None:
        return preferred
    for _ in range(200):
        candidate = random.randint(LOWEST, HIGHEST)  # noqa: S311  # a port, not a secret
        if port_problem(candidate) is None:
            return candidate
    raise ServiceError(
        f"There is no free port between {LOWEST} and {HIGHEST}; stop a program that listens there."
    )


def accepts_connections(port: int, *, host: str = LOCALHOST) -> bool:
    """Whether something answers a TCP connection."""
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False
