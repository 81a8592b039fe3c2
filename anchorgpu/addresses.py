"""Forms of addresses in settings: database, broker, hosts, mail. Each is checked and taken apart here."""

import ipaddress
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_DATABASE_OPTIONS = {
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "application_name",
    "target_session_attrs",
}
_HOST = re.compile(r"\.?[a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:]+\]", re.IGNORECASE)
_SMTP_PORTS = {"smtp": 25, "smtps": 465, "smtp+tls": 587}


class SettingError(ImproperlyConfigured):
    """One sentence that names the setting and says what is wrong with it; values are not repeated."""


def database(url: str) -> Mapping[str, Any]:
    parts = _split(url, "DATABASE_URL")
    if parts.scheme not in ("postgres", "postgresql"):
        raise SettingError("DATABASE_URL must start with postgresql://: PostgreSQL is the only database.")
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise SettingError(
            "DATABASE_URL must name a database: postgresql://user:password@host:5432/database."
        )
    options = dict(parse_qsl(parts.query))
    host = options.pop("host", "") or parts.hostname or ""
    unknown = sorted(set(options) - _DATABASE_OPTIONS)
    if unknown:
        raise SettingError(f"DATABASE_URL has an unknown option: {unknown[0]}.")
    return {
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
    }


def redis_url(url: str) -> str:
    parts = _split(url, "REDIS_URL")
    if parts.scheme not in ("redis", "rediss") or not parts.hostname:
        raise SettingError("REDIS_URL must look like redis://:password@host:6379/0 (or rediss:// with TLS).")
    return url


def allowed_hosts(value: str, *, demo: bool) -> tuple[str, ...]:
    hosts = tuple(host.strip() for host in value.split(",") if host.strip())
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise SettingError(
                "ALLOWED_HOSTS must be host names separated by commas, without port, scheme or asterisk."
            )
        if demo and _is_public(host):
            raise SettingError(
                f"ALLOWED_HOSTS names the public host {host}, and a demo (ANCHORGPU_DEMO=1) may have none."
            )
    if not hosts:
        raise SettingError("ALLOWED_HOSTS must name at least one host.")
    return hosts


def _is_public(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host.lower() not in ("localhost", "testserver") and not host.lower().endswith(".localhost")
    return not (address.is_loopback or address.is_private)


def site_url(url: str, hosts: tuple[str, ...], *, demo: bool) -> str:
    parts = _split(url.rstrip("/"), "SITE_URL")
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.path
        or parts.query
        or parts.username
    ):
        raise SettingError("SITE_URL must be the public address without a path, such as https://gpu.example.")
    if parts.scheme != "https" and not demo:
        raise SettingError("SITE_URL must start with https:// outside the demo.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if not any(host == name or (name.startswith(".") and f".{host}".endswith(name)) for name in hosts):
        raise SettingError("SITE_URL names a host that is not in ALLOWED_HOSTS.")
    return url.rstrip("/")


def listen_address(value: str, name: str = "SSH_LISTEN") -> tuple[str, int]:
    host, _, port = value.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise SettingError(f"{name} must be an address and a port, such as 0.0.0.0:2222.")
    return host.strip("[]"), int(port)


def email(url: str) -> Mapping[str, Any]:
    if not url:
        return {}
    parts = _split(url, "EMAIL_URL")
    if parts.scheme not in _SMTP_PORTS or not parts.hostname:
        raise SettingError(
            "EMAIL_URL must look like smtp+tls://user:password@host:587 (or smtps://, smtp://)."
        )
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or _SMTP_PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
    }


def mail_from(value: str, hosts: tuple[str, ...]) -> str:
    sender = value.strip() or f"AnchorGPU <no-reply@{hosts[0].lstrip('.')}>"
    if not re.fullmatch(r"([^<>@\r\n]+ <)?[^\s<>@]+@[^\s<>@]+>?", sender):
        raise SettingError("MAIL_FROM must be an address, such as AnchorGPU <shop@gpu.example>.")
    return sender


def trusted_proxies(value: str) -> tuple[str, ...]:
    proxies = tuple(part.strip() for part in value.split(",") if part.strip())
    for proxy in proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as error:
            raise SettingError(
                "TRUSTED_PROXIES must be addresses or networks separated by commas."
            ) from error
    return proxies


def _split(url: str, name: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        # What the library says of it repeats a part of it, and that may be a part of the password.
        raise SettingError(
            f"{name} is not a URL; special characters of a password are written as %2F and the like."
        ) from None
    return parts
