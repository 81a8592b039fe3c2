"""Files that are made from the sources at each start where they changed: the static files."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect_static() -> bool:
    """Hashes and compresses all static files, unless nothing changed since; whether it did."""
    stamp = Path(settings.STATIC_ROOT) / ".sources"
    fingerprint = _fingerprint()
    if stamp.exists() and stamp.read_text(encoding="ascii") == fingerprint:
        return False
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(fingerprint, encoding="ascii")
    return True


def _fingerprint() -> str:
    """Names, sizes and times of all source files: reading 20 MB at each start would cost too much."""
    digest = hashlib.sha256()
    for name, file in sorted(_static_sources()):
        stat = file.stat()
        digest.update(f"{name}:{stat.st_size}:{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _static_sources() -> Iterator[tuple[str, Path]]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            yield name, Path(storage.path(name))
