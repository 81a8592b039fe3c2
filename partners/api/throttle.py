"""How many requests a minute: per key, or per address where there is none."""

import ipaddress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from core import clock
from core.cache import count
from core.client_address import client_address
from partners.models import ApiKey

if TYPE_CHECKING:
    # The framework loads this module while it makes its own views.
    from rest_framework.views import APIView

WINDOW_SECONDS = 60


@dataclass(frozen=True)
class RateState:
    """Where a caller stands in the running minute."""

    limit: int
    used: int
    reset_seconds: int

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)


class LocalCounter:
    """Counts of this process. They are all that is left when the cache is gone, and never above its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._window = 0
        self._counts: dict[str, int] = {}

    def add(self, caller: str, window: int) -> int:
        with self._lock:
            if window != self._window:
                self._window = window
                self._counts.clear()
            self._counts[caller] = self._counts.get(caller, 0) + 1
            return self._counts[caller]

    def clear(self) -> None:
        with self._lock:
            self._counts.clear()


local_counter = LocalCounter()


class MinuteThrottle(BaseThrottle):
    """A fixed window: simple to explain in headers, and a burst at its edge costs at most twice the limit."""

    state: RateState | None = None

    def allow_request(self, request: Request, view: "APIView") -> bool:
        caller, limit = _caller(request)
        seconds = int(clock.system_now().timestamp())
        window = seconds // WINDOW_SECONDS
        counted = count(f"api-rate:{window}:{caller}", seconds=2 * WINDOW_SECONDS)
        used = max(local_counter.add(caller, window), counted)
        self.state = RateState(limit, used, WINDOW_SECONDS - seconds % WINDOW_SECONDS)
        request.rate_state = self.state  # type: ignore[attr-defined]
        return used <= limit

    def wait(self) -> float | None:
        return None if self.state is None else float(self.state.reset_seconds)


def rate_headers(state: RateState) -> dict[str, str]:
    """The fields of the IETF draft on rate limit headers."""
    return {
        "RateLimit-Policy": f'"minute";q={state.limit};w={WINDOW_SECONDS}',
        "RateLimit": f'"minute";r={state.remaining};t={state.reset_seconds}',
    }


def _caller(request: Request) -> tuple[str, int]:
    if isinstance(request.auth, ApiKey):
        return f"key:{request.auth.pk}", settings.API_REQUESTS_PER_MINUTE_KEY
    return f"address:{_network(client_address(request._request))}", settings.API_REQUESTS_PER_MINUTE_ADDRESS


def _network(address: str) -> str:
    """One IPv4 address or one IPv6 /64, which is what one household or server has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped  # as a listener on both names it; else all of IPv4 were one network
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network(f"{parsed}/64", strict=False))
    return str(parsed)
