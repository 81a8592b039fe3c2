"""Demo only: skip time, so that a whole term can be watched in a minute. The local chain moves along."""

import re
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from billing import offers
from billing.rails import local_chain
from billing.rails.errors import ChainError
from core import clock, outbox, sweeps
from core.models import SweepRun

_PATTERN = re.compile(r"(?:(\d{1,4})d)?(?:(\d{1,5})h)?(?:(\d{1,6})m)?", re.ASCII)
LONGEST = timedelta(days=400)
# Each sweep runs within a minute by itself and at once when asked; more means that no worker listens.
WAIT_SECONDS = 120.0
POLL_SECONDS = 0.2


def parse_skip(text: str) -> timedelta:
    """Days, hours and minutes such as 2d, 90m, 2d12h. Raises CommandError."""
    match = _PATTERN.fullmatch(text)
    days, hours, minutes = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    skip = timedelta(days=days, hours=hours, minutes=minutes)
    if not timedelta(0) < skip <= LONGEST:
        raise CommandError(f"--skip takes a time such as 90m, 2h, 3d or 2d12h, up to {LONGEST.days}d.")
    return skip


class Command(BaseCommand):
    help = (
        "Demo only: moves the clock of shop and local chain forward and waits until all sweeps have seen it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--skip", required=True, help="how far: 90m, 2h, 3d, 2d12h")

    def handle(self, *args: Any, skip: str, **options: Any) -> None:
        delta = parse_skip(skip)
        rpc_url = _chain_address()
        try:
            # The chain first: it can fail, and then nothing has moved.
            local_chain.move_time(rpc_url, _next_second(clock.now() + delta))
        except ChainError as error:
            raise CommandError(f"The local chain could not be moved, so nothing was: {error}") from error
        clock.skip(delta)
        moment = clock.now()
        wait_for_sweeps(moment)
        self.stdout.write(f"It is now {clock.now():%Y-%m-%d %H:%M:%S} UTC, {_said(clock.offset())} ahead.")


def _chain_address() -> str:
    if not settings.DEMO:
        raise CommandError("Only the demo can move the clock.")
    if settings.PROVIDER != "simulated":
        raise CommandError("The cluster behind this shop lives in real time: the clock stays with it.")
    networks = offers.networks().values()
    if not networks or any(network.chain_id != local_chain.CHAIN_ID for network in networks):
        raise CommandError(f"The clock moves only where chain {local_chain.CHAIN_ID} is the only network.")
    return next(iter(networks)).rpc_urls[0]


def wait_for_sweeps(
    moment: datetime, *, seconds: float = WAIT_SECONDS, pause: Callable[[float], None] = time.sleep
) -> None:
    """Have all sweeps run; return when each has seen `moment` on the product's clock. Raises CommandError."""
    current_app.loader.import_default_modules()
    names = sweeps.names()
    for task in settings.CELERY_BEAT_SCHEDULE:
        outbox.hint(task)
    deadline = time.monotonic() + seconds
    while late := sorted(names - _have_seen(moment)):
        if time.monotonic() >= deadline:
            raise CommandError(
                f"The clock was moved, but these sweeps have not run within {seconds:.0f} seconds: "
                f"{', '.join(late)}. Is the demo running?"
            )
        pause(POLL_SECONDS)


def _have_seen(moment: datetime) -> set[str]:
    return set(SweepRun.objects.filter(last_product_at__gte=moment).values_list("name", flat=True))


def _next_second(moment: datetime) -> datetime:
    """Blocks have whole seconds, and the chain must not stay behind the shop."""
    return moment.replace(microsecond=0) + timedelta(seconds=1)


def _said(offset: timedelta) -> str:
    minutes = int(offset.total_seconds()) // 60
    return f"{minutes // 1440} d {minutes // 60 % 24} h {minutes % 60} min"
