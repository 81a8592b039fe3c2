"""The gateway's sign of life, for /readyz: one row beside those of the sweeps, on the system's clock."""

import asyncio

import structlog

from core import clock
from core.models import SweepRun
from fleet.gateway.logins import with_connection

log = structlog.get_logger(__name__)

NAME = "gateway"
BEAT_SECONDS = 10.0


@with_connection
def beat(*, is_first: bool) -> None:
    """The product's time stays empty: no clock that is moved waits for a gateway."""
    moment = clock.system_now()
    started = {"last_started_at": moment} if is_first else {}
    SweepRun.objects.update_or_create(name=NAME, defaults={"last_finished_at": moment, **started})


def forget() -> None:
    """Where it is known that no gateway runs."""
    SweepRun.objects.filter(name=NAME).delete()


async def keep_beating() -> None:
    """From the moment it listens until it is cancelled. A database that is away for a while stops nothing."""
    is_first = True
    while True:
        try:
            await asyncio.to_thread(beat, is_first=is_first)
            is_first = False
        except Exception:
            log.exception("ssh_gateway_heartbeat_not_written")
        await asyncio.sleep(BEAT_SECONDS)
