"""Move a degraded lease to whole cards: the buyer's own button, and the staff's."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit, clock, decisions
from core.errors import Conflict
from core.locks import limit_lock_wait
from core.models import Decision
from fleet import locks, selectors
from fleet.contention import busy_on_lock_timeout
from fleet.lifecycle import LEASE, LeaseStatus
from fleet.models import Card, Lease
from fleet.services.moving import begin_moving
from fleet.services.take_other_cards import move_to_other_cards


def move_degraded(*, order_ref: str, actor: str, reason: str = "") -> Lease:
    """Put a degraded lease on whole cards of the same kind, for the rest of its term and at the same price.

    Access closes now and opens again when the new machine has passed its test; the local disk starts empty there.
    The time between is an outage of all cards. Locks the lease, all cards of the accelerator by key, extension
    holds, reservations. Raises Conflict: not_degraded, already_done while it moves, no_capacity where nothing else
    is free (the lease stays as it is), busy.
    """
    with busy_on_lock_timeout(), transaction.atomic():
        limit_lock_wait()
        lease = _require_movable(locks.lease_of_order_for_update(order_ref))
        before = _cards(lease)
        _move(lease)
        audit.record(
            actor=actor,
            action="lease.move",
            subject=f"lease:{lease.pk}",
            reason=reason,
            before={"cards": before},
            after={"cards": _cards(lease)},
        )
        return lease


def take_up_move(lease: Lease) -> None:
    """A locked lease that was suspended in the middle of its move is degraded again, and goes on with it."""
    LEASE.advance(lease, LeaseStatus.DEGRADED, order_ref=lease.order_ref, payload={"moving": True})
    begin_moving(lease)


def move_by_decision(*, decision: Decision, actor: str, reason: str) -> None:
    """The staff's button on `lease_degraded`. Locks the decision last. Raises what `move_degraded` raises."""
    with transaction.atomic():
        move_degraded(order_ref=decision.order_ref, actor=actor, reason=reason)
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="move")


def card_is_sound(*, card_id: int, actor: str, reason: str = "") -> Card:
    """A person has looked at a card that a lease found missing or unsound: it is sold again.

    Locks the card. Raises Conflict(already_done).
    """
    with transaction.atomic():
        card = _mark_sound(card_id, actor=actor, reason=reason)
        decisions.close_open(kind="card_unsound", subject=f"card:{card.serial}", reason=reason)
        return card


def _mark_sound(card_id: int, *, actor: str, reason: str) -> Card:
    (card,) = locks.cards_for_update([card_id])
    if card.healthy:
        raise Conflict(code="already_done", message=_("This is already done."))
    card.healthy = True
    card.save(update_fields=["healthy"])
    audit.record(
        actor=actor,
        action="card.sound",
        subject=f"card:{card.serial}",
        reason=reason,
        before={"healthy": False},
        after={"healthy": True},
    )
    return card


def sound_by_decision(*, decision: Decision, actor: str, reason: str) -> None:
    """The staff's button on `card_unsound`. Locks the card, the decision last. Raises Conflict(already_done)."""
    with transaction.atomic():
        card = Card.objects.filter(serial=decision.subject.removeprefix("card:")).first()
        if card is not None:
            _mark_sound(card.pk, actor=actor, reason=reason)
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="sound")


def _require_movable(lease: Lease | None) -> Lease:
    over = lease is not None and lease.ends_at is not None and clock.now() >= lease.ends_at
    if lease is None or lease.status != LeaseStatus.DEGRADED or over:
        raise Conflict(
            code="not_degraded",
            message=_("A lease moves to other cards only while one of its cards is missing."),
        )
    if lease.moving_at is not None:
        raise Conflict(code="already_done", message=_("This lease is already moving to other cards."))
    return lease


def _move(lease: Lease) -> None:
    candidates = locks.candidate_cards_for_update(accelerator_id=lease.hold.lot.accelerator_id)
    lease.moving_at = clock.now()
    if not move_to_other_cards(lease, candidates=candidates, why="repair"):
        raise Conflict(
            code="no_capacity",
            message=_(
                "No other whole cards are free at this moment. The lease stays as it is, and what is missing is "
                "credited. Please try again later."
            ),
        )
    lease.save(update_fields=["moving_at"])
    begin_moving(lease)


def _cards(lease: Lease) -> list[str]:
    return [card.serial for card in selectors.cards_of_hold(lease.hold_id)]
