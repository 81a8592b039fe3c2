"""Screening of senders: one function with three answers, and a source that is a file of addresses.

No network: an operator who uses a service keeps the file fresh with it, or puts another `screen` here.
"""

from pathlib import Path

from django.conf import settings

from billing.addresses import checksum_address
from billing.models import ScreeningVerdict
from billing.screening_list import parse

Verdict = ScreeningVerdict.Verdict

_cache: dict[Path, tuple[tuple[int, int, int], frozenset[str] | None]] = {}


def is_on() -> bool:
    """Whether a source is configured. Without one nobody is screened and nothing is written."""
    return settings.SCREENING_FILE is not None


def source() -> str:
    """The name of the source, for the record."""
    return f"file:{settings.SCREENING_FILE.name}" if settings.SCREENING_FILE else ""


def screen(address: str) -> str:
    """`hit` where the address is on the list, `clear` where it is not, `unknown` where nothing can be said: the list
    cannot be read, or the sender is not known."""
    if not address:
        return Verdict.UNKNOWN
    listed = _listed(settings.SCREENING_FILE) if settings.SCREENING_FILE else None
    if listed is None:
        return Verdict.UNKNOWN
    return Verdict.HIT if checksum_address(address) in listed else Verdict.CLEAR


def holds(verdict: str) -> bool:
    """Whether money of a sender with this verdict waits for staff. `unknown` is never passed silently: the verdict
    is on record, and SCREENING_UNKNOWN says what follows from it."""
    if verdict == Verdict.UNKNOWN:
        return bool(settings.SCREENING_UNKNOWN == "hold")
    return verdict == Verdict.HIT


def _listed(path: Path) -> frozenset[str] | None:
    """The list, read again when the file has changed; None where it cannot be used."""
    try:
        stat = path.stat()
        stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        known = _cache.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        listed: frozenset[str] | None = parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    except ValueError:
        listed = None
    _cache[path] = (stamp, listed)
    return listed
