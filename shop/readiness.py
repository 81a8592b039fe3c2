"""Whether the shop can sell, part by part, from rows: the web process asks no chain and no worker."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection

from billing import offers, pool
from billing.card_offer import cards_are_taken
from billing.models import CardSession, ChainState
from core import clock, sweeps
from core.models import SweepRun
from fleet.gateway import heartbeat

# A worker makes a round every few seconds; three times the slowest of these sweeps, rounded up.
CHAIN_MAX_AGE = timedelta(seconds=60)
WORKER_MAX_AGE = timedelta(seconds=120)
# The gateway writes every 10 s; three missed beats and the time of a slow look.
GATEWAY_MAX_AGE = timedelta(seconds=45)
# A page is opened within seconds; two minutes are several tries in vain.
CARD_MAX_WAIT = timedelta(minutes=2)
# The sweep that carries every event onward: without it nothing moves.
WORKER_SWEEP = "outbox"


@dataclass(frozen=True)
class Part:
    """One thing that the shop stands on. `blocks`: while it is red nobody should be sent here."""

    name: str
    ok: bool
    blocks: bool
    detail: str


def readiness() -> dict[str, Any]:
    """`status` is ready, degraded (all works, something is missing) or unready, with every part and why, and the last
    run of each sweep."""
    parts = _parts()
    if all(part.ok for part in parts):
        status = "ready"
    else:
        status = "unready" if any(part.blocks and not part.ok for part in parts) else "degraded"
    return {
        "status": status,
        "failing": [part.name for part in parts if not part.ok],
        "parts": {part.name: asdict(part) for part in parts},
        "sweeps": _last_runs() if parts[0].ok else [],
    }


def _parts() -> list[Part]:
    database = _database()
    if not database.ok:
        return [database]
    cache = _redis()
    # Without the broker the worker stands still for a known reason, and pages sell on (DESIGN rule 8).
    return [
        database,
        cache,
        *_rail(),
        _worker(blocks=cache.ok),
        # Leases on a cluster are logged into there.
        *([_gateway(), *_silent_gateways()] if settings.PROVIDER == "simulated" else []),
        *_stale_sweeps(),
    ]


def _database() -> Part:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return Part("database", False, True, type(error).__name__)
    return Part("database", True, True, "")


def _redis() -> Part:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
    try:
        client.ping()
    except (redis.RedisError, OSError) as error:
        return Part("redis", False, False, type(error).__name__)
    finally:
        client.close()
    return Part("redis", True, False, "")


def _rail() -> list[Part]:
    """Each network, and whether at least one can be paid on; bank cards where they are taken."""
    networks = offers.networks()
    cards = [_cards()] if cards_are_taken() else []
    if not networks:
        return cards or [Part("crypto", False, True, "no network is configured: nobody can pay")]
    states = {state.network: state for state in ChainState.objects.filter(network__in=list(networks))}
    parts = [_network(slug, states.get(slug)) for slug in networks]
    usable = [part.ok for part in parts]
    # With bank cards the shop sells on while no chain can be read.
    parts.append(Part("crypto", any(usable), not cards, "" if any(usable) else "no network can be paid on"))
    return parts + cards


def _cards() -> Part:
    """Whether payment pages are opened: a buyer who waits for one for minutes says that the processor is silent."""
    late = CardSession.objects.filter(
        status=CardSession.Status.WANTED, attempts__gt=0, wanted_at__lt=clock.now() - CARD_MAX_WAIT
    ).count()
    detail = f"{late} payment pages wait to be opened" if late else ""
    return Part("bank_card", not late, not offers.networks(), detail)


def _network(slug: str, state: ChainState | None) -> Part:
    name = f"network:{slug}"
    if state is None or state.checked_at is None:
        return Part(name, False, False, "never read")
    if not state.offered:
        return Part(name, False, False, state.problem or "not offered")
    age = clock.system_now() - state.checked_at
    if age > CHAIN_MAX_AGE:
        return Part(name, False, False, f"last read {_seconds(age)} s ago")
    ready = pool.ready_count(network=slug)
    return Part(name, ready > 0, False, f"block {state.head_number}, {ready} addresses ready")


def _worker(*, blocks: bool) -> Part:
    run = SweepRun.objects.filter(name=WORKER_SWEEP).first()
    if run is None or run.last_finished_at is None:
        return Part("worker", False, blocks, "no sweep has run")
    age = clock.system_now() - run.last_finished_at
    return Part("worker", age <= WORKER_MAX_AGE, blocks, f"last sweep {_seconds(age)} s ago")


def _gateway() -> Part:
    """Without it nobody can log in, and no delivery passes its login test."""
    run = SweepRun.objects.filter(name=heartbeat.NAME).first()
    if run is None or run.last_finished_at is None:
        return Part("gateway", False, True, "has not listened yet")
    age = clock.system_now() - run.last_finished_at
    return Part("gateway", age <= GATEWAY_MAX_AGE, True, f"last sign of life {_seconds(age)} s ago")


def _silent_gateways() -> list[Part]:
    """One of several that is gone, and was not stopped in order: the others bear its logins."""
    rows = SweepRun.objects.filter(name__startswith=heartbeat.OWN_PREFIX).order_by("name")
    ages = {run.name: clock.system_now() - run.last_finished_at for run in rows if run.last_finished_at}
    return [
        Part(name, False, False, f"last sign of life {_seconds(age)} s ago")
        for name, age in ages.items()
        if GATEWAY_MAX_AGE < age < heartbeat.GONE_AFTER
    ]


def _last_runs() -> list[dict[str, Any]]:
    """`limit_seconds` is None for what has no rounds of its own."""
    return [
        {
            "name": run.name,
            "last_finished_at": run.last_finished_at,
            "age_seconds": run.last_finished_at and _seconds(clock.system_now() - run.last_finished_at),
            "limit_seconds": int(sweeps.limit(run.name).total_seconds())
            if run.name in settings.SWEEP_INTERVALS
            else None,
            "late": sweeps.is_late(run),
            "error": run.last_error[:200],
        }
        for run in SweepRun.objects.order_by("name")
    ]


def _stale_sweeps() -> list[Part]:
    """Sweeps that fail or have stopped, by name; those that run well are one line."""
    bad = [
        Part(f"sweep:{run.name}", False, False, _why(run))
        for run in SweepRun.objects.order_by("name")
        if run.name not in (WORKER_SWEEP, heartbeat.NAME) and _why(run)
    ]
    return bad or [Part("sweeps", True, False, "")]


def _why(run: SweepRun) -> str:
    if run.last_error:
        return run.last_error[:200]
    if not sweeps.is_late(run):
        return ""
    if run.last_finished_at is None:
        return "started and did not finish"
    return f"last finished {_seconds(clock.system_now() - run.last_finished_at)} s ago"


def _seconds(age: timedelta) -> int:
    return int(age.total_seconds())
