"""The simple model of tests/fleet/test_machine.py: what cards, leases and the engine must be, in plain Python."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import combinations

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from catalog.models import Lot
from core import clock
from core.models import Event
from fleet.lifecycle import LEASE, OPEN_STATES, OVER_STATES, LeaseStatus
from fleet.models import AccessKey, Card, Hold, Lease, Reservation, SimulatedMachine
from fleet.periods import turnaround

LIVING = ("held", "committed")
# States that an event leads to; the two that go back say one name for two states.
_TARGETS = {"lease.repaired": {"ready"}, "lease.resumed": {"ready", "reserved"}}
# The cards of one card, as rows: key, from, to.
Interval = tuple[int, datetime, datetime]


def living() -> list[Reservation]:
    return list(Reservation.objects.filter(status__in=LIVING).select_related("hold"))


def overlaps(rows: Iterable[Reservation]) -> list[tuple[int, int]]:
    """Pairs of rows that take one card at one time."""
    return [
        (one.pk, other.pk)
        for one, other in combinations(rows, 2)
        if one.card_id == other.card_id
        and one.period.lower < other.period.upper
        and other.period.lower < one.period.upper
    ]


def free_cards(*, lot: Lot, period: DateTimeTZRange) -> dict[int, int]:
    """How many cards each node can sell for this period: counted one by one, without the product's SQL."""
    moment = clock.now()
    taken = {
        row.card_id
        for row in living()
        if (row.period.lower < period.upper and period.lower < row.period.upper)
        or (row.status == "committed" and row.period.upper <= moment)
        if not (row.status == "held" and row.hold.release_at <= moment)
    }
    found: dict[int, int] = {}
    for card in Card.objects.filter(node__accelerator_id=lot.accelerator_id).select_related("node"):
        if card.in_service and card.healthy and card.node.in_service and card.node.healthy:
            found[card.node_id] = found.get(card.node_id, 0) + (card.pk not in taken)
    return {node: count for node, count in found.items() if count}


def current(lease: Lease) -> list[Reservation]:
    """The reservations on the cards that the lease has now."""
    return [row for row in living() if row.hold_id == lease.hold_id and row.left_at is None]


def wrong_with_lease(lease: Lease) -> Iterator[str]:
    """What the model finds wrong with one lease; nothing on a good day."""
    rows = current(lease)
    missing = lease.outages.filter(ended_at=None).count()
    if lease.status in OVER_STATES:
        if (
            lease.wiped_at is not None
            and Reservation.objects.filter(hold=lease.hold, status__in=LIVING).exists()
        ):
            yield "is wiped and keeps cards"
        if Reservation.objects.filter(hold__extends=lease, status__in=LIVING).exists():
            yield "is over and an extension keeps cards"
    else:
        if len({row.card_id for row in rows}) != lease.hold.card_count:
            yield f"has {len(rows)} of {lease.hold.card_count} cards"
        if len({row.card.node_id for row in rows}) * lease.hold.lot.cards > lease.hold.card_count:
            yield "has a lot that lies on two nodes"
    if lease.status in {*OPEN_STATES, LeaseStatus.SUSPENDED}:
        yield from _wrong_with_term(lease, rows)
    if (lease.status == LeaseStatus.DEGRADED) != (missing > 0):
        yield f"is {lease.status} with {missing} open outages"
    if not _path_is_allowed(lease):
        yield "went a way that the table does not have"


def _wrong_with_term(lease: Lease, rows: list[Reservation]) -> Iterator[str]:
    joined = [
        hold.term_seconds
        for hold in Hold.objects.filter(extends=lease, committed_at__isnull=False, released_at=None)
        if not Reservation.objects.filter(hold=hold, status__in=LIVING).exists()
    ]
    if lease.ready_at is None:
        if lease.ends_at is not None:
            yield "has an end and no start"
        return
    begins = max(lease.ready_at, lease.hold.starts_at or lease.ready_at)
    expected = begins + timedelta(seconds=lease.hold.term_seconds + sum(joined))
    if lease.ends_at != expected:
        yield f"ends at {lease.ends_at} and was paid until {expected}"
    elif any(row.period.upper != expected + turnaround() for row in rows):
        yield "has cards for another time than its term and the turnaround"


def _path_is_allowed(lease: Lease) -> bool:
    """Every change of state is in the log; each must be a step of the table, and the last one is where it stands."""
    names = Event.objects.filter(subject=f"lease:{lease.pk}").order_by("pk").values_list("name", flat=True)
    states: set[str] | None = None
    for name in names:
        targets = _TARGETS.get(name) or {name.removeprefix("lease.")} & set(LeaseStatus.values)
        if not targets:
            continue
        if states is None:
            states = targets & {"reserved"}
        else:
            states = {to for to in targets for state in states if to in LEASE.allowed[state]}
    return states is not None and lease.status in states


def wrong_with_engine(leases: dict[int, Lease]) -> Iterator[str]:
    """Both ways: what the engine has belongs to a lease, and an open lease has what the engine has."""
    machines = {row.lease_id: row for row in SimulatedMachine.objects.exclude(state="wiped")}
    places = [(card["node"], card["index"]) for row in machines.values() for card in row.cards]
    if len(places) != len(set(places)):
        yield "the engine has a card in two machines"
    for lease_id in machines:
        lease = leases.get(lease_id)
        if lease is None or (lease.status in OVER_STATES and lease.wiped_at is not None):
            yield f"the engine runs {lease_id}, which is over"
    for lease in leases.values():
        if lease.status in OPEN_STATES and lease.moving_at is None:
            yield from _wrong_with_machine(lease, machines.get(lease.pk))


def _wrong_with_machine(lease: Lease, machine: SimulatedMachine | None) -> Iterator[str]:
    if machine is None or machine.state != "open":
        yield f"lease {lease.pk} is {lease.status} and its machine is {machine}"
        return
    ours = sorted((row.card.node.name, row.card.index) for row in current(lease))
    if ours != sorted((card["node"], card["index"]) for card in machine.cards):
        yield f"lease {lease.pk} has other cards than its machine"
    if lease.applied_version != lease.wanted_version:
        return  # the engine is told in the next step
    members = AccessKey.objects.filter(lease=lease, purpose="buyer", removed_at=None)
    if sorted(machine.members) != sorted(key.fingerprint for key in members):
        yield f"lease {lease.pk} lets in others than its members"
    if lease.ends_at is not None and machine.ends_at < lease.ends_at:
        yield f"the machine of lease {lease.pk} ends before its term"
