"""Whose address a request comes from, behind proxies of ours and nobody else's."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The caller's address. X-Forwarded-For counts only from a trusted proxy, and there only the part that a
    proxy of ours has written: the last address that is none of ours."""
    address = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    while forwarded and _is_trusted(address):
        hop = forwarded.pop()
        if not hop:
            break
        address = hop
    return address


def network_prefix(address: str) -> str:
    """The /24 or /48 that an address belongs to; text that is no address counts as one prefix of its own."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    bits = 24 if parsed.version == 4 else 48
    return str(ipaddress.ip_network(f"{parsed}/{bits}", strict=False))


def _is_trusted(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in ipaddress.ip_network(proxy, strict=False) for proxy in settings.TRUSTED_PROXIES)
