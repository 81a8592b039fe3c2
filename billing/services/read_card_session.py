"""Read a session anew and write what the processor said: the one way in which card money is believed (S16, S18).

Events, the buyer's return and the sweep all end here; none of them is trusted. Worker only.
"""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import Q

from billing import card_offer, locks
from billing.card_facts import is_paid
from billing.models import CardFact, CardSession
from billing.rails.card_seen import CardRailError, SessionSeen
from billing.rails.cards import card_rail
from billing.services.card_records import note, note_backs
from billing.services.follow_lease import fall_due_again
from billing.services.open_card_session import CLAIM_SECONDS, READ_EVERY
from billing.services.recompute import recompute
from core import claims, clock, decisions
from orders.lifecycle import OrderStatus
from orders.models import Order

# A delayed method takes minutes to days.
READ_PENDING_EVERY = timedelta(minutes=10)
# Refunds and disputes that no event told of.
READ_PAID_EVERY = timedelta(days=1)
LONGEST_PAUSE = 600
TRIES_BEFORE_DECISION = 5
Status = CardSession.Status


def read_card_session(session_id: int, *, expire: bool = False) -> bool:
    """Read it, apply it, recompute the payment; True if that was done. One worker by a claim; safe to repeat.

    `expire` ends an open session first. Locks, after the calls, the order, the payment's view and the session.
    """
    own = CardSession.objects.filter(pk=session_id).exclude(session_id="")
    token = claims.claim(own, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    try:
        row = own.get()
        rail = card_rail()
        try:
            seen = _ended(row.session_id) if expire else rail.session(row.session_id)
            refunds = rail.refunds(seen.payment_intent) if seen.is_paid and seen.payment_intent else []
            disputes = rail.disputes(seen.payment_intent) if seen.is_paid and seen.payment_intent else []
        except CardRailError as error:
            _note_failure(row, token, error)
            return False
        with transaction.atomic():
            found = locks.card_session_for_update(session_id)
            if found is None or found[2].claim_token != token:
                return False
            order, _view, session = found
            _apply(order, session, seen)
            note_backs(session, refunds, disputes)
            view = recompute(order_id=order.public_id)
            if view is not None:
                fall_due_again(order, view)
        return True
    finally:
        claims.release(CardSession.objects.filter(pk=session_id), token=token)


def _ended(session_id: str) -> SessionSeen:
    """End it at the processor; one that was paid or had ended meanwhile is read instead."""
    try:
        return card_rail().expire_session(session_id)
    except CardRailError as error:
        if not error.is_final:
            raise
    return card_rail().session(session_id)


def _apply(order: Order, session: CardSession, seen: SessionSeen) -> None:
    problem = _problem(order, session, seen)
    fact = note(
        CardFact(
            payment=session.payment,
            session=session,
            kind=CardFact.Kind.SESSION,
            reference=session.session_id,
            payment_intent=seen.payment_intent,
            status=seen.status,
            payment_status=seen.payment_status,
            amount_minor=seen.amount_minor,
            currency=seen.currency,
            livemode=seen.livemode,
            problem=problem,
        )
    )
    if fact is not None and problem and (is_paid(fact) or seen.is_pending):
        decisions.open_decision(
            kind="card_mismatch",
            subject=f"payment:{session.payment_id}",
            order_ref=order.public_id,
            facts={
                "why": problem,
                "session": session.session_id,
                "paid": f"{seen.amount_minor} {seen.currency}",
                "asked": f"{session.amount_minor} {session.currency}",
                "reference": seen.reference,
            },
        )
    states = {"open": Status.OPEN, "complete": Status.COMPLETE, "expired": Status.ENDED}
    is_dead = seen.payment_status == "failed"
    session.status = Status.ENDED if is_dead else states.get(seen.status, session.status)
    session.attempts, session.last_error = 0, ""
    session.next_at = clock.system_now() + _pause(seen)
    session.save()


def _problem(order: Order, session: CardSession, seen: SessionSeen) -> str:
    """What differs from what was asked, in words for staff; empty where all agrees."""
    differs = {
        "another amount": seen.amount_minor != session.amount_minor,
        "another currency": seen.currency != session.currency,
        "another order's reference": seen.reference != order.public_id,
        "test money" if card_offer.is_live() else "live money": seen.livemode != card_offer.is_live(),
    }
    return ", ".join(words for words, is_so in differs.items() if is_so)


def _pause(seen: SessionSeen) -> timedelta:
    if seen.is_paid:
        return READ_PAID_EVERY
    return READ_PENDING_EVERY if seen.is_pending else READ_EVERY


def _note_failure(row: CardSession, token: uuid.UUID, error: CardRailError) -> None:
    attempts = row.attempts + 1
    CardSession.objects.filter(pk=row.pk, claim_token=token).update(
        attempts=attempts,
        next_at=clock.system_now() + timedelta(seconds=min(LONGEST_PAUSE, 2**attempts)),
        last_error=error.reason,
    )
    if attempts >= TRIES_BEFORE_DECISION:
        decisions.open_decision(
            kind="card_session_failed",
            subject=f"card_session:{row.pk}",
            order_ref=row.payment.order.public_id,
            facts={"reason": error.reason, "session": row.session_id},
        )


def due_sessions(limit: int = 200) -> list[tuple[int, bool]]:
    """Sessions to look at, with whether to end them: open ones, delayed ones, paid ones once a day for half a year
    (a dispute may come so late). One that nobody wants any more, or whose time is up, is ended at the processor."""
    moment, system = clock.now(), clock.system_now()
    old = moment - timedelta(days=180)
    ended = Q(status=Status.OPEN, expires_at__lte=moment, attempts=0)
    rows = (
        CardSession.objects.filter(
            Q(next_at__lte=system) | ended,
            claims.free(),
            status__in=[Status.OPEN, Status.COMPLETE],
            wanted_at__gt=old,
        )
        .select_related("payment__order")
        .order_by("next_at")[:limit]
    )
    return [(row.pk, row.status == Status.OPEN and _is_over(row)) for row in rows]


def _is_over(row: CardSession) -> bool:
    gone = row.payment.order.status != OrderStatus.AWAITING_PAYMENT
    return gone or row.superseded_at is not None or row.expires_at <= clock.now()
