"""Keep a time free for work on a node. Nothing is placed into it, and it is made only where nothing stands."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core import audit, clock
from core.errors import Conflict, Invalid
from core.locks import limit_lock_wait
from core.text import clean_line
from fleet import locks
from fleet.contention import busy_on_lock_timeout
from fleet.lifecycle import ReservationStatus
from fleet.models import MaintenanceWindow, Node, Reservation
from fleet.services.release import release_locked

# A mistyped year must not take a node off sale for good.
LONGEST = timedelta(days=90)
AHEAD = timedelta(days=366)
_SHOWN = 5


def add_window(
    *, node_id: int, from_at: datetime, to_at: datetime, actor: str, reason: str
) -> MaintenanceWindow:
    """A window on a node. Locks the node, then its cards in key order, so that no booking can slip in.

    Lets overdue holds on these cards go, as a sale would. Raises Invalid naming from_at or to_at,
    Conflict(window_occupied) naming the orders that stand in it, Conflict(busy), Conflict(already_done) for the second
    click: the same time again. Another window may overlap it.
    """
    _check(from_at, to_at)
    with busy_on_lock_timeout(), transaction.atomic():
        limit_lock_wait()
        node = locks.node_for_update(node_id)
        cards = locks.cards_for_update(node.cards.values_list("pk", flat=True))
        period = DateTimeTZRange(from_at, to_at, "[)")
        if MaintenanceWindow.objects.filter(node=node, period=period, cancelled_at=None).exists():
            raise Conflict(code="already_done", message=_("This is already done."))
        # Money may still arrive for one that merely does not count: it must not become a lease in the window.
        card_ids = [card.pk for card in cards]
        for overdue in locks.overdue_holds_for_update(card_ids=card_ids, moment=clock.now()):
            release_locked(overdue)
        _check_empty(node, period)
        window = MaintenanceWindow.objects.create(
            node=node,
            period=period,
            reason=clean_line(reason, field="reason", max_length=200, required=True),
            made_by=actor,
            made_at=clock.now(),
        )
        audit.record(
            actor=actor,
            action="node.window_added",
            subject=f"node:{node.name}",
            reason=reason,
            after={"from": from_at.isoformat(), "to": to_at.isoformat()},
        )
        return window


def cancel_window(*, window_id: int, actor: str, reason: str = "") -> MaintenanceWindow:
    """The time is sold again. Locks the window. Raises Conflict(already_done) for the second click."""
    with transaction.atomic():
        window = locks.window_for_update(window_id)
        if window.cancelled_at is not None:
            raise Conflict(code="already_done", message=_("This is already done."))
        window.cancelled_at = clock.now()
        window.save(update_fields=["cancelled_at"])
        audit.record(
            actor=actor,
            action="node.window_cancelled",
            subject=f"node:{window.node.name}",
            reason=reason,
            before={"from": window.period.lower.isoformat(), "to": window.period.upper.isoformat()},
        )
        return window


def _check(from_at: datetime, to_at: datetime) -> None:
    moment = clock.now()
    if to_at <= moment or from_at > moment + AHEAD:
        raise Invalid(
            code="invalid_period", message=_("A window ends ahead and begins within a year."), field="to_at"
        )
    if not from_at < to_at <= from_at + LONGEST:
        raise Invalid(
            code="invalid_period",
            message=ngettext_lazy(
                "A window ends after it begins and lasts at most %(days)s day.",
                "A window ends after it begins and lasts at most %(days)s days.",
                "days",
            ),
            field="to_at",
            params={"days": LONGEST.days},
        )


def _check_empty(node: Node, period: DateTimeTZRange) -> None:
    """No reservation stands in it, and no card waits for its wipe."""
    moment = clock.now()
    living = Q(period__overlap=period, status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED])
    not_wiped = Q(status=ReservationStatus.COMMITTED, period__endswith__lte=moment)
    found = (
        Reservation.objects.filter(living | not_wiped, card__node=node)
        .order_by("hold_id")
        .values_list("hold__ref", flat=True)
        .distinct()
    )
    refs = list(found[: _SHOWN + 1])
    if refs:
        names = ", ".join(refs[:_SHOWN]) + (" …" if len(refs) > _SHOWN else "")
        raise Conflict(
            code="window_occupied",
            message=_("These orders stand in this time: %(orders)s. Move or wait for them first."),
            params={"orders": names},
        )
