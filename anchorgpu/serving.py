"""Settings of the programs themselves: how many, where, and how long they may take to stop."""

from collections.abc import Mapping
from dataclasses import dataclass

from anchorgpu.addresses import SettingError, listen_address

# Above the longest request: a lock is waited for 3 s, a connection of the pool 5 s, an invoice is made in 2 s.
WEB_GRACE_SECONDS = 20
_DEFAULTS = {
    "WEB_WORKERS": 2,
    "WEB_THREADS": 8,
    "WEB_GRACE_SECONDS": WEB_GRACE_SECONDS,
    "WORKER_PROCESSES": 4,
}
_HIGHEST = 1000


@dataclass(frozen=True, kw_only=True)
class Serving:
    """`web_grace_seconds`: what requests in hand may still take after SIGTERM."""

    web_listen: str
    web_workers: int
    web_threads: int
    web_grace_seconds: int
    worker_processes: int


def read_serving(environ: Mapping[str, str]) -> Serving:
    """Raises SettingError."""
    listen = environ.get("WEB_LISTEN", "").strip() or "127.0.0.1:8000"
    listen_address(listen, "WEB_LISTEN")
    return Serving(
        web_listen=listen,
        web_workers=_number(environ, "WEB_WORKERS"),
        web_threads=_number(environ, "WEB_THREADS"),
        web_grace_seconds=_number(environ, "WEB_GRACE_SECONDS"),
        worker_processes=_number(environ, "WORKER_PROCESSES"),
    )


def _number(environ: Mapping[str, str], name: str) -> int:
    text = environ.get(name, "").strip() or str(_DEFAULTS[name])
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) <= _HIGHEST:
        raise SettingError(f"{name} must be a whole number from 1 to {_HIGHEST}.")
    return int(text)
