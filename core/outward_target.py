"""Which addresses of others we call at all: public https by name, judged at save and again at each connection."""

import ipaddress
import re
import socket
from dataclasses import dataclass
from queue import Empty, Queue
from threading import BoundedSemaphore, Thread

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

from core.errors import Invalid, Refusal
from core.text import check_storable

MAX_URL = 2000
# Public web servers only: mail, databases and caches listen elsewhere, and some of them obey what they are sent.
PORTS = frozenset({443, 8443})
# A name server that hangs holds up its caller no longer.
LOOKUP_SECONDS = 3.0
# In one process; it has 8 threads for everybody.
LOOKUPS_AT_SAVE = 2

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?|_[a-z0-9-]+")
# What resolvers read as a number: 127.1, 0x7f000001, 2130706433, 0177.0.0.1.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_INNER_NAMES = (".localhost", ".local", ".internal", ".home.arpa", ".lan", ".intranet", ".corp")
# Beside what `is_global` knows: relays and documentation ranges that some versions of Python count as public.
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20", "64:ff9b:1::/48")
)
_UNICAST_V6 = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


_lookups = BoundedSemaphore(LOOKUPS_AT_SAVE)


class Unresolved(Exception):
    """A name without an address; `code` says why, for the log of the caller."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


@dataclass(frozen=True)
class Target:
    """An address in parts. `host` is in its ASCII form, `path` includes the query; `loopback` only in the demo."""

    scheme: str
    host: str
    port: int
    path: str
    loopback: bool = False

    @property
    def netloc(self) -> str:
        """As in the Host header: without the port where it is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = 443 if self.scheme == "https" else 80
        return host if self.port == usual else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.path}"


def parse_target(text: str, *, field: str = "url") -> Target:
    """The parts of an address that somebody gave us. No look at the network.

    Raises Invalid(invalid_url, url_not_https) and Refusal(url_inward).
    """
    check_storable(text, field=field)
    if len(text) > MAX_URL or not text.isprintable() or any(sign.isspace() or sign == "\\" for sign in text):
        raise _invalid(field)
    try:
        parts = parse_url(text)
    except (LocationParseError, UnicodeError, ValueError) as error:
        raise _invalid(field) from error
    has_user = "@" in text.partition("//")[2].partition("/")[0]
    if not parts.scheme or not parts.host or has_user or parts.fragment is not None:
        raise _invalid(field)
    host = parts.host.strip("[]").lower().removesuffix(".")
    loopback = _demo_loopback(parts, host)
    if loopback is not None:
        return loopback
    if parts.scheme != "https":
        raise Invalid(code="url_not_https", message=_("This address must begin with https://."), field=field)
    _check_host(host, field=field)
    port = 443 if parts.port is None else parts.port
    if port not in PORTS:
        raise Invalid(code="invalid_url", message=_("Only the ports 443 and 8443 are called."), field=field)
    return Target("https", host, port, parts.request_uri)


def check_reachable(target: Target, *, field: str = "url") -> None:
    """Refuse at save what can be seen to lead inside. A name that does not resolve yet passes: each call looks again.

    Raises Refusal(url_inward). Asks the name server, for LOOKUP_SECONDS at most; call it outside a transaction. While
    LOOKUPS_AT_SAVE are waiting for theirs, a name passes unseen: slow name servers must not take all threads of a shop.
    """
    if not _lookups.acquire(blocking=False):
        return
    try:
        found = resolve(target)
    except Unresolved:
        return
    finally:
        _lookups.release()
    if not all(may_call(address, target) for address in found):
        raise _inward(field)


def resolve(target: Target) -> list[IPAddress]:
    """All addresses of the host, each once, in the resolver's order. Raises Unresolved(dns_failed, dns_timeout)."""
    answers: Queue[list[str] | None] = Queue(1)

    def ask() -> None:
        try:
            answers.put(_ask(target.host, target.port))
        except (OSError, UnicodeError):
            answers.put(None)

    Thread(target=ask, name="lookup", daemon=True).start()
    try:
        texts = answers.get(timeout=LOOKUP_SECONDS)
    except Empty:
        raise Unresolved("dns_timeout") from None
    if not texts:
        raise Unresolved("dns_failed")
    return [ipaddress.ip_address(text.partition("%")[0]) for text in dict.fromkeys(texts)]


def _ask(host: str, port: int) -> list[str]:
    """The name server's word. Blocks for as long as the system's resolver likes."""
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def may_call(address: IPAddress, target: Target) -> bool:
    """Whether this address may be connected to for that target."""
    return address.is_loopback if target.loopback else is_public(address)


def is_public(address: IPAddress) -> bool:
    """Global unicast only; what wraps an IPv4 address is judged by it."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _UNICAST_V6:
            return False
    in_never = any(address in network for network in _NEVER if network.version == address.version)
    return address.is_global and not address.is_multicast and not in_never


def _check_host(host: str, *, field: str) -> None:
    """A name of several labels that cannot be read as a number. Addresses themselves are never called."""
    literal = _literal(host)
    if literal is not None:
        raise _invalid(field) if is_public(literal) else _inward(field)
    labels = host.split(".")
    if not host.isascii() or len(host) > 253 or not all(_is_label(label) for label in labels):
        raise _invalid(field)
    if _NUMBER.fullmatch(labels[-1]):
        raise _invalid(field)
    if len(labels) == 1 or f".{host}".endswith(_INNER_NAMES):
        raise _inward(field)


def _is_label(label: str) -> bool:
    return len(label) <= 63 and _LABEL.fullmatch(label) is not None


def _literal(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _demo_loopback(parts: Url, host: str) -> Target | None:
    """The receiver of the tutorial, on this machine: only in a demo, and only where its setting says so."""
    if not (settings.DEMO and settings.WEBHOOK_LOOPBACK) or host not in ("localhost", "127.0.0.1", "::1"):
        return None
    if parts.scheme not in ("http", "https") or parts.port is None or parts.port < 1024:
        return None
    return Target(parts.scheme, host, parts.port, parts.request_uri, loopback=True)


def _invalid(field: str) -> Invalid:
    return Invalid(
        code="invalid_url",
        message=_("This is no address that is called: https://, a public name, without user and fragment."),
        field=field,
    )


def _inward(field: str) -> Refusal:
    return Refusal(
        code="url_inward",
        message=_("This address leads into a private network. Only public addresses are called."),
        field=field,
    )
