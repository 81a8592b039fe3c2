"""Listening ports: below the ephemeral range, so that no client's own port collides with a server of ours."""

import errno
import random
import socket
import sys
import weakref

from anchorgpu.services.errors import ServiceError

# Linux hands out 32768-60999 to outgoing connections; a listener there fails at random.
LOWEST, HIGHEST = 20000, 32000
LOCALHOST = "127.0.0.1"


class PortTaken(Exception):
    """Why nothing can listen there, as the end of a sentence."""


class Reservation:
    """A port that other programs find in use until `release`, and other demos for as long as this object lives.

    The program that is to listen there binds it seconds after it was started. In that gap only the claim keeps
    another demo away.
    """

    def __init__(self, port: int) -> None:
        """Raises PortTaken."""
        self.port = port
        claim = _claim(port)
        try:
            self._holder = _bound(port)
        except PortTaken:
            _close(claim)
            raise
        self._finalizer = weakref.finalize(self, _close, claim, self._holder)

    def release(self) -> None:
        """Right before the program starts that listens there. May be repeated."""
        self._holder.close()

    def close(self) -> None:
        """Gives the port back. May be repeated."""
        self._finalizer()


def _claim(port: int) -> socket.socket | None:
    """A name that one process of the machine can hold, and that goes with it, however it ends."""
    if sys.platform != "linux":
        return None
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind(f"\0anchorgpu-port-{port}")
    except OSError as error:
        claim.close()
        raise PortTaken("is in use by another demo") from error
    return claim


def _bound(port: int) -> socket.socket:
    """Without listening where it can be: whoever calls is refused at once and does not wait for an answer."""
    try:
        return _listener(port, is_shared=False)
    except PortTaken:
        # Connections of a demo that has just ended linger on the port; only a listener may pass them over.
        return _listener(port, is_shared=True)


def _listener(port: int, *, is_shared: bool) -> socket.socket:
    holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(is_shared))
        holder.bind((LOCALHOST, port))
        if is_shared:
            holder.listen(1)
    except OSError as error:
        holder.close()
        raise PortTaken(_reason(error)) from error
    return holder


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "is in use by another program"
    if error.errno == errno.EACCES:
        return "needs rights that this user does not have"
    return f"cannot be used ({error.strerror})"


def _close(*sockets: socket.socket | None) -> None:
    for each in sockets:
        if each is not None:
            each.close()


def reserve_free(*, preferred: int | None = None, instead_of: Reservation | None = None) -> Reservation:
    """The preferred port if it is free, else a random free one; a former reservation is given back first."""
    if instead_of is not None:
        instead_of.close()
    candidates = [] if preferred is None else [preferred]
    candidates += random.sample(range(LOWEST, HIGHEST + 1), 200)
    for candidate in candidates:
        try:
            return Reservation(candidate)
        except PortTaken:
            continue
    raise ServiceError(
        f"There is no free port between {LOWEST} and {HIGHEST}; stop a program that listens there."
    )


def port_problem(port: int) -> str | None:
    """Why nothing can listen on this port, or None."""
    try:
        _bound(port).close()
    except PortTaken as problem:
        return str(problem)
    return None


def free_port(*, preferred: int | None = None) -> int:
    """A port that was free a moment ago, for a caller that tries again where it no longer is."""
    reservation = reserve_free(preferred=preferred)
    reservation.close()
    return reservation.port


def accepts_connections(port: int, *, host: str = LOCALHOST) -> bool:
    """Whether something answers a TCP connection."""
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False
