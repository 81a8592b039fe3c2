"""A cache whose loss nobody notices: reads fall open, writes are dropped (DESIGN rule 8)."""

import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import structlog
from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

T = TypeVar("T")

# A Redis that hangs costs its time-out once per process in this time, not once per call.
QUIET_SECONDS = 5.0
_quiet_until = 0.0


def _or(fallback: T, call: Callable[[], T]) -> T:
    """The call's answer, or the fallback where Redis is gone or was a moment ago."""
    global _quiet_until  # noqa: PLW0603  # one process, one cache
    if time.monotonic() < _quiet_until:
        return fallback
    try:
        return call()
    except RedisError as error:
        _quiet_until = time.monotonic() + QUIET_SECONDS
        log.warning("cache_lost", error=type(error).__name__)
        return fallback


class FailOpenRedisCache(RedisCache):
    """Django's Redis cache; where Redis is gone a read is a miss and a write does nothing."""

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return _or(default, lambda: super(FailOpenRedisCache, self).get(key, default, version))

    def set(self, key: Any, value: Any, timeout: Any = 300, version: int | None = None) -> None:
        _or(None, lambda: super(FailOpenRedisCache, self).set(key, value, timeout, version))

    def add(self, key: Any, value: Any, timeout: Any = 300, version: int | None = None) -> bool:
        return _or(True, lambda: super(FailOpenRedisCache, self).add(key, value, timeout, version))

    def delete(self, key: Any, version: int | None = None) -> bool:
        return _or(False, lambda: super(FailOpenRedisCache, self).delete(key, version))

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        return _or(delta, lambda: super(FailOpenRedisCache, self).incr(key, delta, version))

    def count(self, key: str, *, seconds: int) -> int:
        """One more, kept for so long after the first; 0 where Redis is gone. One trip."""
        return _or(0, lambda: self._counted(self.make_and_validate_key(key), seconds))

    def _counted(self, key: str, seconds: int) -> int:
        with self._cache.get_client(key, write=True).pipeline(transaction=False) as trip:
            trip.set(key, 0, ex=seconds, nx=True)
            trip.incr(key)
            return int(trip.execute()[1])


def count(key: str, *, seconds: int) -> int:
    """How often this was called for the key since its first call `seconds` ago or less; 0 where nobody knows."""
    return cast(FailOpenRedisCache, caches["default"]).count(key, seconds=seconds)
