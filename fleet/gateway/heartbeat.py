"""The gateways' signs of life, for /readyz: rows beside those of the sweeps, on the system's clock."""

import asyncio
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import structlog
from django.conf import settings
from django.db import DatabaseError

from core import clock
from core.models import SweepRun
from fleet.gateway.logins import with_connection

log = structlog.get_logger(__name__)

# The last sign of any. Each has a row of its own too, so that one of two that is gone is seen.
NAME = "gateway"
OWN_PREFIX = "gateway:"
BEAT_SECONDS = 10.0
# Who was not stopped in order and has not come back for so long was taken away.
GONE_AFTER = timedelta(days=1)
# One thread: the last beat is written before the gateway signs off, never after.
_turns = ThreadPoolExecutor(max_workers=1, thread_name_prefix="heartbeat")


@with_connection
def beat(*, is_first: bool) -> None:
    """The product's time stays empty: no clock that is moved waits for a gateway."""
    moment = clock.system_now()
    started = {"last_started_at": moment} if is_first else {}
    for name in (NAME, own_name()):
        SweepRun.objects.update_or_create(name=name, defaults={"last_finished_at": moment, **started})
    if is_first:
        SweepRun.objects.filter(
            name__startswith=OWN_PREFIX, last_finished_at__lt=moment - GONE_AFTER
        ).delete()


def own_name() -> str:
    """Machine and port: two gateways of one installation differ in one of them."""
    return f"{OWN_PREFIX}{socket.gethostname()[:40]}:{settings.SSH_LISTEN_PORT}"


@with_connection
def leave() -> None:
    """In an orderly stop: nobody need look for this one."""
    SweepRun.objects.filter(name=own_name()).delete()


def forget() -> None:
    """Where it is known that no gateway runs."""
    SweepRun.objects.filter(name__startswith=NAME).delete()


async def _in_turn(work: Callable[[], None]) -> None:
    await asyncio.get_running_loop().run_in_executor(_turns, work)


async def sign_off() -> None:
    """A database that is away does not hold up the end: the row goes in a day."""
    try:
        await _in_turn(leave)
    except DatabaseError as error:
        log.warning("ssh_gateway_not_signed_off", reason=type(error).__name__)


async def keep_beating() -> None:
    """From the moment it listens until it is cancelled. A database that is away for a while stops nothing."""
    is_first = True
    while True:
        try:
            await _in_turn(partial(beat, is_first=is_first))
            is_first = False
        except Exception:
            log.exception("ssh_gateway_heartbeat_not_written")
        await asyncio.sleep(BEAT_SECONDS)
