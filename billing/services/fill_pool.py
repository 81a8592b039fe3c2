"""Keep the pool of deposit addresses full and checked. Worker only; no I/O inside a transaction."""

import structlog

from billing import offers, pool
from billing.models import ChainState
from billing.rails.errors import ChainError
from billing.services.read_addresses import read_addresses

log = structlog.get_logger(__name__)


def fill_pool() -> None:
    """Derive what is missing, then check what is due on each readable network. Safe to repeat and concurrently.

    A network that cannot be read neither empties the pool nor hides another one.
    """
    if not offers.networks():
        return
    pool.derive_missing()
    readable = set(ChainState.objects.filter(offered=True).values_list("network", flat=True))
    for slug, network in offers.networks().items():
        if slug not in readable:
            continue
        due = pool.due_for_check(network=slug)
        if not due:
            continue
        try:
            found = read_addresses(network, due)
        except ChainError as error:
            log.warning("pool_not_checked", network=slug, reason=str(error))
            continue
        found.keep()
    # A skipped address leaves a gap: fill it at once, the next run checks it.
    pool.derive_missing()
