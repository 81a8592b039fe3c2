"""Connections that have not logged in yet: how many may wait, and who goes when it is full.

Nobody is turned away at the door. Whoever has done more of a login waits in a shorter queue, so that connections that
say nothing push out each other and never a client that is under way.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import structlog
from django.core import signing

log = structlog.get_logger(__name__)

_SIGNER = signing.TimestampSigner(salt="fleet.acceptance_login")
_PREFIX = "AnchorGPU_acceptance_"
# The version travels in clear: who reads it on the way may use the reserve for so long, and opens nothing with it.
# It covers a login of 12 s and clocks of two machines that differ.
_VERSION_SECONDS = 60
# Under a flood one line tells as much as thousands.
_LOG_PAUSE_SECONDS = 10.0


class Stage(IntEnum):
    """How far a login has come. An honest client sends its version at once, without waiting for anything."""

    SILENT = 0
    GREETED = 1
    LOGGING_IN = 2
    ACCEPTANCE = 3


# One turn of the event loop accepts up to 100 connections; a newcomer's first words are read in the next one.
# Together they stay far below the 1,024 open files that a process commonly has.
LIMITS = {Stage.SILENT: 200, Stage.GREETED: 100, Stage.LOGGING_IN: 100, Stage.ACCEPTANCE: 20}


def acceptance_version() -> str:
    """The client version by which the shop's own acceptance login is known before it has logged in."""
    return _PREFIX + _SIGNER.sign("login")


def is_acceptance(version: str) -> bool:
    """Whether this version was made a moment ago by an installation with our SECRET_KEY."""
    _head, found, signed = version.partition(_PREFIX)
    if not found:
        return False
    try:
        _SIGNER.unsign(signed, max_age=_VERSION_SECONDS)
    except signing.BadSignature:
        return False
    return True


@dataclass(eq=False)
class Waiting:
    """One connection. `version` gives what the client has called itself so far, `drop` closes the connection."""

    network: str
    version: Callable[[], str]
    drop: Callable[[], None]
    stage: Stage = Stage.SILENT

    def look(self) -> Stage:
        """The stage now; the version is judged once, when it has arrived."""
        if self.stage == Stage.SILENT and (version := self.version()):
            self.stage = Stage.ACCEPTANCE if is_acceptance(version) else Stage.GREETED
        return self.stage

    def begin_login(self) -> None:
        """The key exchange is done and a user name has arrived."""
        self.stage = max(self.look(), Stage.LOGGING_IN)


class WaitingRoom:
    """All connections before their login, in the order of their arrival."""

    def __init__(self) -> None:
        self._waiting: dict[Waiting, None] = {}
        self._dropped = 0
        self._logged_at = float("-inf")

    def enter(self, newcomer: Waiting) -> None:
        """Let it in, and drop whoever is one too many in a stage."""
        self._waiting[newcomer] = None
        if len(self._waiting) <= min(LIMITS.values()):
            return
        stages: dict[Stage, list[Waiting]] = {stage: [] for stage in Stage}
        for one in self._waiting:
            stages[one.look()].append(one)
        for stage, present in stages.items():
            while len(present) > LIMITS[stage]:
                victim = _longest_of_the_largest(present)
                present.remove(victim)
                self._drop(victim)

    def leave(self, one: Waiting) -> None:
        """It has logged in or is gone."""
        self._waiting.pop(one, None)

    def _drop(self, one: Waiting) -> None:
        self.leave(one)
        one.drop()
        self._dropped += 1
        if time.monotonic() - self._logged_at >= _LOG_PAUSE_SECONDS:
            log.warning("ssh_too_many_unauthenticated", network=one.network, dropped=self._dropped)
            self._logged_at = time.monotonic()
            self._dropped = 0


def _longest_of_the_largest(present: list[Waiting]) -> Waiting:
    """Of the network that holds most places the one that waits longest: a lone visitor is never the victim."""
    held = Counter(one.network for one in present)
    most = max(held.values())
    return next(one for one in present if held[one.network] == most)
