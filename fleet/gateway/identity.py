"""Who the gateway is, for those who log in: address, host key, known_hosts line.

Pages need the public half only. It stands in clear in the key file, before the private section, and is read from
there without decoding the rest.
"""

import base64
import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

import asyncssh
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

_BEGIN = "-----BEGIN OPENSSH PRIVATE KEY-----"
_END = "-----END OPENSSH PRIVATE KEY-----"
_MAGIC = b"openssh-key-v1\x00"
_ANY_ADDRESS = frozenset({"", "0.0.0.0", "::", "[::]", "*"})  # noqa: S104


@dataclass(frozen=True)
class GatewayIdentity:
    """Where the gateway is reached and how it proves itself. `host_key` is one line, type and base64."""

    host: str
    port: int
    host_key: str
    fingerprint: str

    @property
    def known_hosts_line(self) -> str:
        name = self.host if self.port == 22 else f"[{self.host}]:{self.port}"
        return f"{name} {self.host_key}"


def listen_address() -> tuple[str, int]:
    """The address to bind. Raises ImproperlyConfigured."""
    host, separator, port = settings.SSH_LISTEN.rpartition(":")
    if not separator or not port.isdigit() or not 0 <= int(port) <= 65535:
        raise ImproperlyConfigured("SSH_LISTEN must be an address and a port, for example 127.0.0.1:2222.")
    return host.strip("[]"), int(port)


def identity() -> GatewayIdentity:
    """The identity that buyers see. A gateway that listens on every address is reached at the site's name."""
    host, port = listen_address()
    if host in _ANY_ADDRESS:
        host = urlsplit(settings.SITE_URL).hostname or "localhost"
    path = Path(settings.SSH_HOST_KEY_FILE)
    line = _public_line(str(path), path.stat().st_mtime_ns)
    return GatewayIdentity(
        host=host,
        port=port,
        host_key=line,
        fingerprint=asyncssh.import_public_key(line).get_fingerprint("sha256"),
    )


def local_address() -> tuple[str, int]:
    """Where this machine reaches the gateway."""
    host, port = listen_address()
    if host in {"", "0.0.0.0", "*"}:  # noqa: S104
        return "127.0.0.1", port
    return ("::1", port) if host == "::" else (host, port)


@lru_cache(maxsize=4)
def _public_line(path: str, _changed: int) -> str:
    text = Path(path).read_text(encoding="ascii")
    if _BEGIN not in text:
        raise ImproperlyConfigured("SSH_HOST_KEY_FILE must be a private key in OpenSSH's own format.")
    raw = base64.b64decode("".join(text.partition(_BEGIN)[2].partition(_END)[0].split()))
    if not raw.startswith(_MAGIC):
        raise ImproperlyConfigured("SSH_HOST_KEY_FILE must be a private key in OpenSSH's own format.")
    offset = len(_MAGIC)
    for _field in ("cipher", "kdf", "kdf options"):
        _value, offset = _string(raw, offset)
    blob, _offset = _string(raw, offset + 4)  # past the count of keys, which is always one
    algorithm, _offset = _string(blob, 0)
    return f"{algorithm.decode('ascii')} {base64.b64encode(blob).decode('ascii')}"


def _string(raw: bytes, offset: int) -> tuple[bytes, int]:
    (length,) = struct.unpack_from(">I", raw, offset)
    start = offset + 4
    return raw[start : start + length], start + length
