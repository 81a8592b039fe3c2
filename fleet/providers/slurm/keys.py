"""Who may log in on the cluster: one file of authorized keys for each account, replaced as a whole.

The file is the record: it is what the login host reads, so what is asked is read from there again.
"""

import os
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import asyncssh

from fleet.models import AccessKey
from fleet.providers.base import ProviderRefused, ProviderUnavailable

# The comment of a key that the acceptance test put there; such a one is no member.
TEST_COMMENT = "acceptance-test"


def lines_of(lease_id: int, fingerprints: Iterable[str]) -> list[str]:
    """The public keys of a lease by their fingerprints. Raises ProviderRefused for one that nobody has given us."""
    wanted = set(fingerprints)
    rows = AccessKey.objects.filter(lease_id=lease_id, fingerprint__in=wanted).order_by("pk")
    found = {row.fingerprint: f"{row.algorithm} {row.data}" for row in rows}
    if set(found) != wanted:
        raise ProviderRefused(f"There is no key {', '.join(sorted(wanted - set(found)))} on this lease.")
    return list(found.values())


class KeyFiles:
    """The folder that the login host's sshd reads (docs/slurm.md)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, account: str, lines: Iterable[str], *, expires_at: datetime, test_line: str = "") -> None:
        """Replace the account's keys; each opens nothing after `expires_at`, even if we are gone by then."""
        until = f'expiry-time="{expires_at.astimezone(UTC):%Y%m%d%H%M%SZ}"'
        entries = [f"{until} {line}" for line in lines]
        entries += [f"{until} {test_line} {TEST_COMMENT}"] if test_line else []
        try:
            self._replace(account, "".join(f"{entry}\n" for entry in entries))
        except OSError as error:
            raise ProviderUnavailable(
                f"The keys of {account} cannot be written: {error.strerror}."
            ) from error

    def remove(self, account: str) -> None:
        """No key opens the account."""
        try:
            (self._folder / account).unlink(missing_ok=True)
        except OSError as error:
            raise ProviderUnavailable(
                f"The keys of {account} cannot be removed: {error.strerror}."
            ) from error

    def lines(self, account: str) -> list[str]:
        """The members' keys as they stand, without their options."""
        try:
            text = (self._folder / account).read_text(encoding="ascii")
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise ProviderUnavailable(f"The keys of {account} cannot be read.") from error
        entries = [line.split() for line in text.splitlines()]
        return [" ".join(words[1:3]) for words in entries if words[-1] != TEST_COMMENT]

    def fingerprints(self, account: str) -> tuple[str, ...]:
        """The members by the fingerprints of their keys, sorted."""
        return tuple(
            sorted(asyncssh.import_public_key(line).get_fingerprint("sha256") for line in self.lines(account))
        )

    def _replace(self, account: str, text: str) -> None:
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
                os.fchmod(file.fileno(), 0o644)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._folder / account)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
