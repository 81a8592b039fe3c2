"""Ask for a card checkout session: a row that a worker opens at the processor. The web process calls nobody."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing import card_amounts, card_offer, locks
from billing.lifecycle import PaymentStatus
from billing.models import CardSession, PaymentRequest, PaymentView
from core import clock, outbox
from core.errors import Conflict, NotFound, TooMany
from fleet.services.move_release import extend_expiry
from orders.lifecycle import OrderStatus
from orders.models import Order

# The processor ends a session 30 minutes after its opening at the earliest; a worker has one minute to open it.
SHORTEST = timedelta(minutes=31)
# It ends one after 24 hours at the latest; the hour is for whoever sets HOLD_SECONDS to a whole day.
LONGEST = timedelta(hours=23)
# Nobody needs more, and each costs a call or two at the processor.
SESSIONS_PER_ORDER = 10
# A link that is about to end is not worth following.
STILL_USABLE = timedelta(minutes=5)
Status = CardSession.Status


def add_session(payment: PaymentRequest, *, language: str, expires_at: datetime) -> CardSession:
    """The row of a new session; the worker is told on commit. Must run under the lock on the order."""
    moment = clock.now()
    row = CardSession.objects.create(
        payment=payment,
        attempt=payment.card_sessions.count() + 1,
        language=language,
        amount_minor=card_amounts.to_minor(payment.amount, payment.currency),
        currency=payment.currency,
        wanted_at=moment,
        expires_at=min(expires_at, moment + LONGEST),
        next_at=clock.system_now(),
    )
    transaction.on_commit(lambda: outbox.hint("billing.open_card_session", row.pk))
    return row


def want_card_session(*, order_id: str, language: str, anew: bool = False) -> CardSession:
    """A session that the buyer can pay with: the one that is there, or a new one, also `anew` beside an old one.

    An older session is marked superseded; a worker ends it at the processor. Where a new one would outlive the hold,
    hold and payment are prolonged to it, once. Locks the order, the payment's view, then the hold and its cards.
    Raises NotFound, Conflict(already_done, part_paid, hold_over), TooMany(rate_limited) and what
    card_offer.require_card raises.
    """
    with transaction.atomic():
        found = locks.payment_for_update(order_id)
        if found is None:
            raise NotFound(code="not_found", message=_("There is no such order."))
        order, view = found
        _check(order, view)
        card_offer.require_card(view.payment.amount, view.payment.currency)
        usable = usable_session(view.payment)
        if usable is not None and not anew:
            return usable
        if view.payment.card_sessions.count() >= SESSIONS_PER_ORDER:
            raise TooMany(
                code="rate_limited",
                message=_("Too many card payments were started for this order. Please report a problem."),
            )
        expires_at = _prolong(order, view)
        supersede(view.payment)
        return add_session(view.payment, language=language, expires_at=expires_at)


def usable_session(payment: PaymentRequest) -> CardSession | None:
    """The newest session that is being opened or may still be paid."""
    return (
        CardSession.objects.filter(
            payment=payment,
            status__in=[Status.WANTED, Status.OPEN],
            superseded_at=None,
            expires_at__gt=clock.now() + STILL_USABLE,
        )
        .order_by("-attempt")
        .first()
    )


def supersede(payment: PaymentRequest) -> None:
    """No session of this payment is wanted any longer. Must run under the lock on the order."""
    moment = clock.now()
    CardSession.objects.filter(
        payment=payment, status__in=[Status.WANTED, Status.OPEN], superseded_at=None
    ).update(superseded_at=moment, next_at=clock.system_now())


def _check(order: Order, view: PaymentView) -> None:
    if order.status != OrderStatus.AWAITING_PAYMENT or view.status in (
        PaymentStatus.SEEN,
        PaymentStatus.SETTLED,
    ):
        raise Conflict(code="already_done", message=_("This is already done."))
    if view.received_units:
        raise Conflict(
            code="part_paid",
            message=_("Part of the sum has arrived by transfer. Please send the rest the same way."),
        )
    if clock.now() >= order.hold_expires_at:
        raise _over()


def session_end(order: Order) -> datetime | None:
    """When a session that begins now would end; None where the hold is over or was prolonged for one before."""
    moment = clock.now()
    if moment >= order.hold_expires_at:
        return None
    until = moment + SHORTEST
    if until <= order.hold_expires_at:
        return order.hold_expires_at
    hold_for = max(timedelta(seconds=settings.HOLD_SECONDS), SHORTEST)
    is_prolonged = order.hold_expires_at > order.placed_at + hold_for
    return None if is_prolonged or until > order.placed_at + hold_for + SHORTEST else until


def _prolong(order: Order, view: PaymentView) -> datetime:
    """When a session that begins now would end. Moves hold, order and payment to it where that is later, once."""
    until = session_end(order)
    if until is None:
        raise _over()
    if until <= order.hold_expires_at:
        return until
    if not extend_expiry(ref=order.public_id, until=until):
        raise _over()
    order.hold_expires_at = until
    order.save(update_fields=["hold_expires_at"])
    payment = view.payment
    view.watch_until += until - payment.expires_at
    view.save(update_fields=["watch_until"])
    payment.expires_at = until
    payment.save(update_fields=["expires_at"])
    return until


def _over() -> Conflict:
    return Conflict(
        code="hold_over",
        message=_("The cards are not held long enough for a new card payment. Please order anew."),
    )
