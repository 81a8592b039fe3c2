"""The one client for addresses that others gave us: connects to a checked address, and is bounded in every way.

No proxy, no redirect, no cookie. The name is resolved once per call and the connection goes to what was checked, so
that a name which changes between look and call leads nowhere else.
"""

import http.client
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Timer

import structlog

from core.outward_target import IPAddress, Target, Unresolved, may_call, resolve

log = structlog.get_logger(__name__)

CONNECT_SECONDS = 5.0
# From the first connection to the last byte that we read.
TOTAL_SECONDS = 10.0
MAX_READ_BYTES = 64 * 1024
# More addresses of one name are not tried.
MAX_ADDRESSES = 3


@dataclass(frozen=True)
class Answer:
    """What came of a call: a status, or `error` where there was none. The body of the answer is never kept."""

    status: int | None
    error: str
    duration_ms: int


class _Failed(Exception):
    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


def post(target: Target, *, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Send it once. Never raises: each failure is an answer with a stable `error`.

    dns_failed, dns_timeout, inward_target, connect_failed, connect_timeout, tls_failed, timeout, bad_answer.
    """
    started = time.monotonic()
    status, error = None, ""
    try:
        status = _send(target, _addresses(target), body, headers)
    except (_Failed, Unresolved) as failed:
        error = failed.code
    # Whatever a hostile server makes the parser raise is an answer too.
    except Exception as failed:
        log.warning("outward_call_failed", host=target.host, error=type(failed).__name__)
        error = "bad_answer"
    return Answer(status, error, round((time.monotonic() - started) * 1000))


def _addresses(target: Target) -> list[IPAddress]:
    """One that leads inside spoils all: a name that mixes them is up to no good."""
    found = resolve(target)
    if not all(may_call(address, target) for address in found):
        raise _Failed("inward_target")
    return found[:MAX_ADDRESSES]


def _send(target: Target, addresses: list[IPAddress], body: bytes, headers: Mapping[str, str]) -> int:
    connection = http.client.HTTPConnection(target.host, target.port)
    with _socket(target, addresses) as (plain, cut):
        try:
            connection.sock = _encrypted(plain, target)
            fields = {**headers, "Host": target.netloc, "Connection": "close"}
            connection.request("POST", target.path, body=body, headers=fields)
            with connection.getresponse() as response:
                response.read(MAX_READ_BYTES)
        except ssl.SSLError as error:
            raise _Failed("timeout" if cut() else "tls_failed") from error
        except TimeoutError as error:
            raise _Failed("timeout") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _Failed("timeout" if cut() else "bad_answer") from error
        finally:
            connection.close()
        if cut():
            raise _Failed("timeout")
        return response.status


@contextmanager
def _socket(target: Target, addresses: list[IPAddress]) -> Iterator[tuple[socket.socket, "_Cut"]]:
    """A connected socket that is cut off when the time for the whole call is over.

    A time limit on each read would not do: a server that sends one byte a second would never meet it.
    """
    ends = time.monotonic() + TOTAL_SECONDS
    plain = _connect(target, addresses)
    # A second handle on the same connection: the first one goes to the TLS layer.
    handle = plain.dup()
    cut = _Cut(handle)
    timer = Timer(max(0.0, ends - time.monotonic()), cut.now)
    timer.daemon = True
    timer.start()
    try:
        yield plain, cut
    finally:
        timer.cancel()
        timer.join()
        handle.close()
        plain.close()


class _Cut:
    """Ends a connection from another thread; calling it tells whether that has happened."""

    def __init__(self, handle: socket.socket) -> None:
        self._handle = handle
        self._done = False

    def now(self) -> None:
        self._done = True
        try:
            self._handle.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def __call__(self) -> bool:
        return self._done


def _connect(target: Target, addresses: list[IPAddress]) -> socket.socket:
    ends = time.monotonic() + CONNECT_SECONDS
    code = "connect_failed"
    for address in addresses:
        left = ends - time.monotonic()
        if left <= 0:
            break
        try:
            found = _open(str(address), target.port, left)
        except TimeoutError:
            code = "connect_timeout"
        except OSError:
            code = "connect_failed"
        else:
            found.settimeout(TOTAL_SECONDS)
            return found
    raise _Failed(code)


def _open(address: str, port: int, seconds: float) -> socket.socket:
    return socket.create_connection((address, port), timeout=seconds)


def _encrypted(plain: socket.socket, target: Target) -> socket.socket:
    """The certificate must be of the name, whatever address it has."""
    if target.scheme == "http":
        return plain
    hour = int(time.monotonic() // 3600)
    return _context(hour).wrap_socket(plain, server_hostname=target.host)


@lru_cache(maxsize=1)
def _context(hour: int) -> ssl.SSLContext:
    """The system's authorities, read each hour: they may be renewed while a worker lives."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
