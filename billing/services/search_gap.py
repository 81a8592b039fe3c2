"""Look at the addresses that a lost order may have been given, and open the pool above them. Worker only."""

import time

from django.db import transaction

from billing import gap, offers, pool
from billing.models import ChainState
from billing.networks import Network
from billing.rails.errors import ChainError
from billing.services.read_addresses import read_addresses
from core import restored

# Below the worker's soft limit for a task (90 s) with one round of reads and its time-outs to spare.
SEARCH_SECONDS = 45.0


def search_gap() -> None:
    """Derive the gap, look at what is due on each readable network, report money. Nothing without a restore.

    Goes on until nothing is due, since money that is found moves the gap's end on. Safe to repeat and at once: a second
    worker reads the same twice. Raises ChainError at the end where a network could not be read: until it is, or is no
    longer offered, the pool stays closed, and the sweep must say why.
    """
    if restored.latest() is None or not offers.networks() or not pool.is_accepted():
        return
    ends = time.monotonic() + SEARCH_SECONDS
    networks, key = _readable(), pool.xpub()
    failed: ChainError | None = None
    while networks and time.monotonic() < ends:
        gap.widen(key)
        looked = 0
        for slug in list(networks):
            try:
                looked += _look(networks[slug])
            except ChainError as error:
                failed = error
                del networks[slug]
        if not looked:
            for slug in networks:
                gap.note_searched(key.fingerprint, slug)
            break
    if failed is not None:
        raise failed


def _readable() -> dict[str, Network]:
    states = set(ChainState.objects.filter(offered=True).values_list("network", flat=True))
    return {slug: network for slug, network in offers.networks().items() if slug in states}


def _look(network: Network) -> int:
    """How many were looked at. Raises ChainError."""
    rows = gap.due(network=network.slug)
    if not rows:
        return 0
    found = read_addresses(network, rows)
    with transaction.atomic():
        gap.report(network=network.slug, rows=rows, dirty=found.dirty)
        found.keep()
    return len(rows)
