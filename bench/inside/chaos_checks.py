"""What must be true of the rows: at any moment of a chaos run, and once all is reconciled. One sentence each."""

from collections import Counter
from collections.abc import Iterable, Iterator

from django.conf import settings
from django.db import connection
from django.db.models import Count, QuerySet

from bench.inside import chaos_slurm
from core import clock
from core.models import Decision, Event, OutboxRow, OutgoingMail
from fleet.lifecycle import OPEN_STATES, OVER_STATES, LeaseStatus, ReservationStatus
from fleet.models import Hold, Lease, Reminder, Reservation, SimulatedMachine, SlurmMachine
from fleet.periods import PREPARE_AHEAD
from fleet.selectors import predecessors
from orders.lifecycle import OrderStatus
from orders.models import Order

# Of each lease there is one of these at most, whatever was killed in between.
ONCE = ("lease.ready", "lease.ending", "lease.wiping", "lease.closed", "lease.failed")


def wrong_now() -> list[str]:
    """Breaches that no moment excuses."""
    return [*_cards_twice(), *_cards_twice_ever(), *_machines_twice(), *_events_twice(), *_reminders_twice()]


def unsettled() -> list[str]:
    """What is still open; each is a breach where it stays so."""
    asked = _asked()
    return [
        *(f"lease {lease.pk}: {words}" for lease in _leases() for words in _about_lease(lease, asked)),
        *_orders(),
        *_machines(),
        *_rows_left(),
    ]


def _cards_twice() -> Iterator[str]:
    """The question of the exclusion constraint, asked of the rows themselves."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.hold_id, b.hold_id, a.card_id FROM fleet_reservation a JOIN fleet_reservation b"
            " ON a.card_id = b.card_id AND a.id < b.id AND a.period && b.period"
            " WHERE a.status IN ('held', 'committed') AND b.status IN ('held', 'committed')"
        )
        for one, other, card in cursor.fetchall():
            yield f"card {card} is taken by hold {one} and by hold {other} at one time"


def _cards_twice_ever() -> Iterator[str]:
    """The past too: what a lease gave back was cut to that moment, so two of them never overlap."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l.id, m.id, a.card_id FROM fleet_reservation a"
            " JOIN fleet_lease l ON l.hold_id = a.hold_id"
            " JOIN fleet_reservation b ON a.card_id = b.card_id AND a.hold_id < b.hold_id AND a.period && b.period"
            " JOIN fleet_lease m ON m.hold_id = b.hold_id"
            # A start that was chosen and never came was not cut.
            " WHERE (l.wiped_at IS NULL OR lower(a.period) < l.wiped_at)"
            " AND (m.wiped_at IS NULL OR lower(b.period) < m.wiped_at)"
        )
        for one, other, card in cursor.fetchall():
            yield f"leases {one} and {other} both had card {card} at one time"


def _machines_twice() -> Iterator[str]:
    taken = Counter((card["node"], card["index"]) for machine in _living_machines() for card in machine.cards)
    for place, count in taken.items():
        if count > 1:
            yield f"the engine has {count} machines on {place}"


def _events_twice() -> Iterator[str]:
    rows = Event.objects.filter(name__in=ONCE).values("name", "subject").annotate(count=Count("pk"))
    for row in rows.filter(count__gt=1):
        yield f"{row['subject']} has {row['count']} events {row['name']}"


def _reminders_twice() -> Iterator[str]:
    """By what was told, not by the rows whose constraint says that they are unique."""
    told = Counter(
        (event.subject, event.payload["kind"], event.payload["ends_at"])
        for event in Event.objects.filter(name="lease.reminder")
    )
    for (subject, kind, ends_at), count in told.items():
        if count > 1:
            yield f"{subject} was reminded {count} times ({kind}) of its end at {ends_at}"
    mails = OutgoingMail.objects.filter(key__contains=":reminder-").values("order_ref", "subject", "text")
    for row in mails.annotate(count=Count("pk")).filter(count__gt=1):
        yield f"order {row['order_ref']} got {row['count']} equal reminders"
    rows = Reminder.objects.filter(told_at__isnull=False).count()
    if sum(told.values()) != rows:
        yield f"{rows} reminders are on record as told and {sum(told.values())} were"


def _asked() -> set[str]:
    """Subjects and orders of which an open decision tells."""
    found: set[str] = set()
    # That a delivery failed is told for the reader's sake, and is no answer for a machine that nobody takes down.
    for decision in Decision.objects.filter(closed_at=None).exclude(kind="lease_failed"):
        found |= {decision.subject, decision.order_ref}
    return found - {""}


def _leases() -> Iterable[Lease]:
    return Lease.objects.select_related("hold").order_by("pk")


def _about_lease(lease: Lease, asked: set[str]) -> Iterator[str]:
    is_asked = not asked.isdisjoint({f"lease:{lease.pk}", lease.order_ref})
    if lease.status in OVER_STATES:
        if lease.wiped_at is None and not is_asked:
            yield f"{lease.status} and not wiped"
        elif lease.wiped_at is not None and _living(lease).exists():
            yield f"{lease.status} and still takes cards"
        return
    if lease.status in {*OPEN_STATES, LeaseStatus.SUSPENDED}:
        yield from _about_term(lease, is_asked=is_asked)
    elif not (is_asked or _waits_for_its_start(lease) or predecessors(lease)):
        yield f"{lease.status} ({lease.last_error or 'no error'}), and nobody was told"
    if _living(lease).filter(left_at=None).count() != lease.hold.card_count:
        yield f"{lease.status} without all its cards"


def _about_term(lease: Lease, *, is_asked: bool) -> Iterator[str]:
    if lease.ends_at is None or lease.ends_at <= clock.now():
        yield f"{lease.status} after its end"
    if lease.status == LeaseStatus.DEGRADED and not is_asked:
        yield "degraded, and nobody was told"
    missing = lease.outages.filter(ended_at=None).count()
    if (lease.status == LeaseStatus.DEGRADED) != (missing > 0):
        yield f"{lease.status} with {missing} open outages"
    if lease.applied_version != lease.wanted_version and not is_asked:
        yield "the engine has not been told of a change, and nobody was told"


def _waits_for_its_start(lease: Lease) -> bool:
    starts_at, moment = lease.hold.starts_at, clock.now()
    if starts_at is None:
        return False
    if lease.status == LeaseStatus.RESERVED:
        return moment < starts_at - PREPARE_AHEAD
    return bool(
        lease.status == LeaseStatus.TESTING and lease.test_report.get("passed") and moment < starts_at
    )


def _living(lease: Lease) -> QuerySet[Reservation]:
    return Reservation.objects.filter(hold=lease.hold).exclude(status=ReservationStatus.RELEASED)


def _orders() -> Iterator[str]:
    leases = {lease.order_ref: lease for lease in Lease.objects.all()}
    for order in Order.objects.select_related("extends", "payment__view"):
        lease = leases.get((order.extends or order).public_id)
        expected = _expected_of_extension(lease) if order.extends_id else _expected(lease)
        if order.status != OrderStatus.CANCELLED and order.status not in expected:
            yield f"order {order.public_id} is {order.status} and its lease {lease.status if lease else 'not there'}"


def _expected(lease: Lease | None) -> set[str]:
    """What an order may be whose lease is in this state."""
    if lease is None:
        return {OrderStatus.AWAITING_PAYMENT, OrderStatus.EXPIRED}
    if lease.status == LeaseStatus.FAILED:
        return {OrderStatus.FAILED}
    if lease.status == LeaseStatus.CLOSED:
        return {OrderStatus.ENDED} if lease.ready_at else {OrderStatus.FAILED}
    if lease.ready_at is not None:
        return {OrderStatus.ACTIVE}
    return {OrderStatus.PAID, OrderStatus.PROVISIONING}


def _expected_of_extension(lease: Lease | None) -> set[str]:
    unpaid_or_undone = {OrderStatus.AWAITING_PAYMENT, OrderStatus.EXPIRED, OrderStatus.FAILED}
    if lease is None or lease.status in OVER_STATES:
        return {OrderStatus.ENDED, *unpaid_or_undone}
    return {OrderStatus.ACTIVE, *unpaid_or_undone}


def _machines() -> Iterator[str]:
    """Both ways: each machine of the engine has a lease on the same cards, each open lease has a machine."""
    leases = {lease.pk: lease for lease in _leases()}
    for machine in _living_machines():
        lease = leases.pop(machine.lease_id, None)
        if lease is None or lease.status in OVER_STATES:
            yield f"a machine of the engine belongs to no living lease ({machine.lease_id})"
            continue
        ours = sorted(_living(lease).filter(left_at=None).values_list("card__node__name", "card__index"))
        theirs = sorted((card["node"], card["index"]) for card in machine.cards)
        if ours != theirs:
            yield f"lease {lease.pk} has {ours} and the engine {theirs}"
    for lease in leases.values():
        if lease.status in OPEN_STATES:
            yield f"lease {lease.pk} is {lease.status} without a machine"
    if settings.PROVIDER == "slurm":
        yield from chaos_slurm.unlike_the_rows()


def _living_machines() -> list[SimulatedMachine] | list[SlurmMachine]:
    """The engine's own record of what is not wiped."""
    if settings.PROVIDER == "slurm":
        return list(SlurmMachine.objects.exclude(state=SlurmMachine.State.WIPED))
    return list(SimulatedMachine.objects.exclude(state=SimulatedMachine.State.WIPED))


def _rows_left() -> Iterator[str]:
    pending = OutboxRow.objects.filter(status=OutboxRow.Status.PENDING)
    if pending.exists():
        worst = pending.order_by("-attempts", "pk").first()
        yield f"{pending.count()} outbox rows are pending, such as {worst}: {worst.last_error if worst else ''}"
    told = set(
        Decision.objects.filter(kind="outbox_parked", closed_at=None).values_list("subject", flat=True)
    )
    for row in OutboxRow.objects.filter(status=OutboxRow.Status.PARKED):
        if f"outbox:{row.pk}" not in told:
            yield f"outbox row {row.pk} is parked, and nobody was told"
    queued = OutgoingMail.objects.filter(status=OutgoingMail.Status.QUEUED).count()
    if queued:
        yield f"{queued} mails are not sent"
    overdue = Hold.objects.filter(committed_at=None, released_at=None, release_at__lte=clock.now()).count()
    if overdue:
        yield f"{overdue} unpaid holds keep their cards after their time"
    left = Reservation.objects.filter(hold__extends__status__in=OVER_STATES).exclude(
        status=ReservationStatus.RELEASED
    )
    if left.exists():
        yield f"{left.count()} reservations of extensions whose lease is over"
