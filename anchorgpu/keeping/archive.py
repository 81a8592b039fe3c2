"""The one file that a backup is: a tar with a manifest first, which names each part with its digest."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE, QUOTE_KEYS, SSH_HOST_KEY = "database.dump", "quote-keys.json", "ssh_host_key"
PARTS = (DATABASE, QUOTE_KEYS, SSH_HOST_KEY)
_CHUNK = 1 << 20
_MANIFEST_LIMIT = 1 << 22


class KeepingError(Exception):
    """One sentence that says what is wrong and what to do; shown to the person as it is."""


@dataclass(frozen=True)
class Manifest:
    """What an archive says of itself. `made_at`: taken before the snapshot of the database, by the system clock."""

    made_at: datetime
    version: str
    server_major: int
    migrations: frozenset[tuple[str, str]]
    xpub_fingerprint: str
    parts: Mapping[str, Mapping[str, Any]]


def pack(target: Path, *, facts: Mapping[str, Any], parts: Mapping[str, Path]) -> None:
    """Write the archive, readable by its owner alone, and have it on the disk before returning."""
    described = {
        name: {"bytes": path.stat().st_size, "sha256": digest_of(path)} for name, path in parts.items()
    }
    manifest = json.dumps({"format": FORMAT, **facts, "parts": described}, indent=1, sort_keys=True).encode()
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w") as tar:
            _add(tar, MANIFEST, io.BytesIO(manifest), len(manifest))
            for name, path in parts.items():
                with path.open("rb") as part:
                    _add(tar, name, part, path.stat().st_size)
        file.flush()
        os.fsync(file.fileno())


def read_manifest(archive: Path) -> Manifest:
    """Raises KeepingError where this is no backup, or one of a form that this version does not know."""
    try:
        with tarfile.open(archive, mode="r:") as tar:
            first = tar.next()
            file = tar.extractfile(first) if first is not None and first.name == MANIFEST else None
            text = file.read(_MANIFEST_LIMIT) if file is not None else b""
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise KeepingError(f"{archive} has form {found['format']}, this version reads form {FORMAT}.")
        return Manifest(
            made_at=datetime.fromisoformat(found["made_at"]),
            version=str(found["version"]),
            server_major=int(found["server_major"]),
            migrations=frozenset((str(app), str(name)) for app, name in found["migrations"]),
            xpub_fingerprint=str(found["xpub_fingerprint"]),
            parts=found["parts"],
        )
    except OSError as error:
        raise KeepingError(f"{archive} cannot be read: {error.strerror or error}.") from error
    except (tarfile.TarError, ValueError, KeyError, TypeError) as error:
        raise KeepingError(f"{archive} is no backup that bin/backup made, or it is damaged.") from error


def unpack(archive: Path, folder: Path, manifest: Manifest) -> dict[str, Path]:
    """Write the parts into an empty folder of ours and compare each with its digest. Raises KeepingError."""
    found: dict[str, Path] = {}
    try:
        with tarfile.open(archive, mode="r:") as tar:
            for name in PARTS:
                part = tar.extractfile(name)
                if part is None:
                    raise KeyError(name)
                found[name] = folder / name
                _copy(part, found[name])
    except (OSError, tarfile.TarError, KeyError) as error:
        raise KeepingError(f"{archive} is damaged or cannot be unpacked: {error}.") from error
    for name, path in found.items():
        if digest_of(path) != manifest.parts.get(name, {}).get("sha256"):
            raise KeepingError(f"{archive} is damaged: {name} is not what its manifest says.")
    return found


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _add(tar: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    tar.addfile(entry, content)


def _copy(source: IO[bytes], target: Path) -> None:
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        while chunk := source.read(_CHUNK):
            file.write(chunk)
