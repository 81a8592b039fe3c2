"""Runs Slurm's own commands: with a time limit, in a fixed environment, and with failures told apart.

What the tools print is theirs; only sentences known as a refusal count as one. Anything else is no answer.
"""

import os
import pwd
import re
import subprocess  # the tools of the cluster are programs

import structlog
from django.conf import settings

from fleet.providers.base import ProviderRefused, ProviderUnavailable

log = structlog.get_logger(__name__)

# The tools give up after 9 s without a controller; the claim of a worker on a lease is 30 s.
TOOL_SECONDS = 10.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Slurm's sentences for "no" (slurm_errno.c of 22.05 to 26.05). Each leaves everything as it was.
_REFUSALS = re.compile(
    r"overlaps with another reservation|Duplicate reservation name|Invalid time specified|Invalid node name"
    r"|Start time cannot be after end time|Invalid user id|Requested reservation is in use|Invalid job id"
    r"|Requested nodes? (are|is) busy|Access/permission denied|Requested node configuration is not available"
    r"|Requested reservation is invalid|Access denied to requested reservation|Invalid partition"
    r"|Reservation \S+ not found|Node \S+ not found|Requested partition configuration not available"
    r"|Job/step already completing or completed|Unable to assign requested resources",
    re.IGNORECASE,
)


class NotFound(ProviderRefused):
    """The controller knows no reservation, node or job of this name."""


_NOT_FOUND = re.compile(r"not found|Requested reservation is invalid|Invalid job id", re.IGNORECASE)


class Tools:
    """Satisfied by the test's own runner too, which loses answers on purpose."""

    def run(self, *command: str, user: str = "", seconds: float = TOOL_SECONDS) -> str:
        """What the tool printed. Raises NotFound, ProviderRefused or ProviderUnavailable with its sentence."""
        try:
            done = subprocess.run(  # fixed programs, no shell; every argument is ours
                [*as_user(user), *command],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ProviderUnavailable(f"{command[0]} gave no answer within {seconds:.0f} s.") from error
        except OSError as error:
            raise ProviderUnavailable(f"{command[0]} cannot be run: {error.strerror}.") from error
        said = done.stderr.decode("utf-8", "replace").strip()
        shown = done.stdout.decode("utf-8", "replace")
        if done.returncode == 0:
            return shown
        raise failure(command[0], done.returncode, said or shown.strip())

    def own_name(self) -> str:
        """The account that this program runs as."""
        return pwd.getpwuid(os.geteuid()).pw_name


def as_user(user: str) -> list[str]:
    """The words in front of a command that make it that user's. Root needs no sudo; others need a rule for it."""
    if not user:
        return []
    return ["runuser", "-u", user, "--"] if os.geteuid() == 0 else ["sudo", "-n", "-u", user, "--"]


def _environment() -> dict[str, str]:
    """Nothing of the caller's but the way to the cluster: settings of a shell change what the tools print."""
    fixed = {"PATH": _PATH, "LC_ALL": "C.UTF-8", "TZ": "UTC", "SLURM_TIME_FORMAT": "standard"}
    return fixed | ({"SLURM_CONF": settings.SLURM_CONF} if settings.SLURM_CONF else {})


def failure(tool: str, code: int, said: str) -> ProviderRefused | ProviderUnavailable:
    """What a sentence of Slurm's means; one that is not known is no answer."""
    sentence = " ".join(said.split())[:500] or f"{tool} failed with code {code} and said nothing."
    if _NOT_FOUND.search(sentence):
        return NotFound(sentence)
    if _REFUSALS.search(sentence):
        return ProviderRefused(sentence)
    log.warning("slurm_tool_failed", tool=tool, code=code, said=sentence)
    return ProviderUnavailable(sentence)
