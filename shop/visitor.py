"""Who asks: a signed browser cookie as the opaque owner of holds, and the network prefix of the caller."""

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from core.client_address import client_address, network_prefix

COOKIE = "anchorgpu_owner"
_YEAR_SECONDS = 365 * 24 * 3600
_SALT = "shop.owner"


def owner_of(request: HttpRequest) -> str | None:
    """The owner text of this browser, or None where it has no valid cookie yet."""
    value = request.get_signed_cookie(COOKIE, default=None, salt=_SALT, max_age=_YEAR_SECONDS)
    return f"web:{value}" if value else None


def new_owner() -> str:
    """128 random bits: it says nothing about the person and cannot be guessed."""
    return f"web:{secrets.token_hex(16)}"


def remember_owner(response: HttpResponse, owner: str) -> None:
    """Set or renew the cookie."""
    response.set_signed_cookie(
        COOKIE,
        owner.removeprefix("web:"),
        salt=_SALT,
        max_age=_YEAR_SECONDS,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def client_prefix(request: HttpRequest) -> str:
    """The /24 or /48 by which unpaid holds are counted."""
    return network_prefix(client_address(request))
