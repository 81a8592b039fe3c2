"""PostgreSQL refuses to run as root. As root we run it under another user id, without creating a user."""

import enum
import functools
import os
import shutil
import subprocess  # probes two system tools
from collections.abc import Sequence
from pathlib import Path

from anchorgpu.services.errors import ServiceError

NOBODY = 65534


class Mode(enum.Enum):
    DIRECT = "direct"
    USER_NAMESPACE = "user namespace"
    NOBODY = "user id 65534"


# Inside the namespace root's files belong to user 1000: nothing is created, moved or handed over.
_NAMESPACE = ("unshare", "-U", "--map-user=1000", "--map-group=1000")
# Where namespaces are forbidden (containers). The capability lets that user reach a private folder;
# changing the user clears the parent-death signal, so setpriv sets it again.
_NOBODY = (
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
    "--pdeathsig=INT",
)


def _works(prefix: Sequence[str]) -> bool:
    if shutil.which(prefix[0]) is None:
        return False
    try:
        done = subprocess.run([*prefix, "true"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


@functools.cache
def mode() -> Mode:
    """How a program that refuses root is run here; probed once."""
    if os.geteuid() != 0:
        return Mode.DIRECT
    if _works(_NAMESPACE):
        return Mode.USER_NAMESPACE
    if _works(_NOBODY):
        return Mode.NOBODY
    raise ServiceError(
        "PostgreSQL does not run as root, and neither unshare nor setpriv (package util-linux) works here: "
        "start as a normal user, or set DATABASE_URL to a server of your own."
    )


def unprivileged(command: Sequence[str | Path], *, how: Mode | None = None) -> list[str]:
    """The command, prefixed so that it does not run as root."""
    prefix = {Mode.DIRECT: (), Mode.USER_NAMESPACE: _NAMESPACE, Mode.NOBODY: _NOBODY}[how or mode()]
    return [*prefix, *map(str, command)]


def hand_over(folder: Path, *, how: Mode | None = None) -> None:
    """Makes the folder and what is in it belong to the user id that the server will have."""
    if os.geteuid() != 0:
        return
    owner = NOBODY if (how or mode()) is Mode.NOBODY else 0
    if folder.stat().st_uid == owner:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner, owner, follow_symlinks=False)
