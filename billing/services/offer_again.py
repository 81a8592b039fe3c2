"""Late money, and money on time whose cards had gone: keep a lot again for the buyer's choice, or give it back.

The rule (docs/payments.md): while a lot is free it is kept for LATE_OFFER_SECONDS and the buyer chooses between it
and the refund; no answer is a refund. While none is free we look again each minute, staff may help, the buyer may
take the refund at any moment; after NO_CAPACITY_REFUND_SECONDS it falls due by itself.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from billing import locks
from billing.chain_facts import counted_transfers
from billing.counted import acceptance_of, counted_parts
from billing.legs import left_on, legs_of, main_code
from billing.lifecycle import PaymentStatus
from billing.models import PaymentView, Refund
from billing.services import screen
from billing.services.accept import accept_locked, locked_order
from billing.services.give_back import all_back
from catalog.stack import driver_needed
from core import audit, clock, decisions, events
from core.errors import Conflict, NotFound
from core.models import Decision, Event
from core.sweeps import each
from fleet.limits import HoldLimits
from fleet.periods import DAY_SECONDS
from fleet.services.hold import HoldRequest, hold
from orders.lifecycle import OrderStatus
from orders.models import Order
from orders.services import notify, pay
from orders.services.offer import offer_again, withdraw_offer

NO_CAPACITY = "order.no_capacity"


def offer_late(*, order_id: str) -> bool:
    """Keep a lot again for an expired order whose money is there in full; True where the buyer can choose now.

    Locks the order, the view of its payment, then what fleet.hold locks. Safe to repeat. Where no lot is free the
    buyer and staff are told once; after NO_CAPACITY_REFUND_SECONDS the refund falls due.
    """
    with transaction.atomic():
        found = locks.payment_for_update(order_id)
        if found is None or not _waits_for_an_offer(*found):
            return False
        order, view = found
        if _is_stopped(order, view):
            return False
        if order.extends_id is not None:
            # The lease went its way without it: there is no lot to choose.
            all_back(order, view, reason=Refund.Reason.EXTENSION_FAILED)
            return False
        if _keep_lot(order):
            _close_questions(order, view, reason="a lot is kept for the buyer's choice")
            return True
        _tell_no_lot(order)
        if clock.now() >= _told_at(order) + timedelta(seconds=settings.NO_CAPACITY_REFUND_SECONDS):
            all_back(order, view, reason=_reason(view))
        return False


def accept_offer(*, order_id: str, actor: str = "buyer") -> Order:
    """The buyer takes the lot that is kept: the money counts as payment in full and the lease begins.

    Locks the order, the view, the hold. Raises NotFound, Conflict(offer_over) once the time is up, Conflict(money_gone)
    where the chain took the money back. A second click hears Conflict(already_done).
    """
    with transaction.atomic():
        order, view = _locked(order_id)
        if order.status not in (OrderStatus.EXPIRED, OrderStatus.AWAITING_PAYMENT):
            raise Conflict(code="already_done", message=_("This is already done."))
        if order.offered_until is None or clock.now() >= order.offered_until:
            raise Conflict(
                code="offer_over", message=_("The time to choose is over. Your money goes back to you.")
            )
        if not _money_is_there(view):
            raise Conflict(code="money_gone", message=_("The chain has taken back your transfer."))
        if view.status != PaymentStatus.SETTLED:
            accept_locked(order, view, actor=actor, reason="late money, the lot that was kept is taken")
        pay.settle(order_id=order_id, settled_at=clock.now())
        order.refresh_from_db()
        if order.status != OrderStatus.PAID:
            raise Conflict(
                code="offer_over", message=_("The cards are no longer held. Your money goes back to you.")
            )
    return order


def take_refund(*, order_id: str, actor: str = "buyer") -> list[Refund]:
    """The buyer wants his money instead: the cards go back on sale, all of it is due.

    Locks the order, the view, the hold. Raises NotFound; Conflict(already_done) where there is no such choice,
    Conflict(money_under_review) where staff have to look at its sender first.
    """
    with transaction.atomic():
        order, view = _locked(order_id)
        if order.status != OrderStatus.EXPIRED or not _money_is_there(view):
            raise Conflict(code="already_done", message=_("This is already done."))
        if not screen.stops(order, view):
            withdraw_offer(order)
            return all_back(order, view, reason=_reason(view), actor=actor)
    # After the transaction: the question to staff stays.
    raise Conflict(
        code="money_under_review",
        message=_("We have to look at this transfer before its money can go back. We write to you."),
    )


def offer_lot(*, decision: Decision, actor: str, reason: str) -> None:
    """Staff: keep a lot for the buyer now. Raises Conflict(no_capacity) where none is free: the decision stays open.

    Locks the order, the view, what fleet.hold locks, the decision.
    """
    with transaction.atomic():
        order, view = locked_order(decision)
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="offer")
        if not _waits_for_an_offer(order, view):
            raise Conflict(code="order_over", message=_("This order does not wait for money any more."))
        if _is_stopped(order, view):
            raise Conflict(
                code="screening_hold",
                message=_("The sender of this money is on a list. Decide about that first."),
            )
        if order.extends_id is not None or not _keep_lot(order):
            raise Conflict(code="no_capacity", message=_("No such lot is free at this moment."))
        _close_questions(order, view, reason="a lot is kept for the buyer's choice")
        audit.record(
            actor=actor,
            action="order.offer",
            subject=f"order:{order.pk}",
            reason=reason,
            before={"offered_until": None},
            after={"offered_until": order.offered_until.isoformat() if order.offered_until else None},
        )


def due_offers() -> tuple[list[str], list[str]]:
    """Orders whose money waits for a lot, and orders whose offer nobody answered in time."""
    # Nobody can be asked about an order whose buyer was erased: the question of its money stays with staff.
    waiting = _expired_with_money().filter(offered_until=None, erased_at=None)
    over = _expired_with_money().filter(offered_until__lte=clock.now())
    return (
        list(waiting.order_by("pk").values_list("public_id", flat=True)[:100]),
        list(over.order_by("pk").values_list("public_id", flat=True)[:100]),
    )


def sweep_offers() -> None:
    """Look for lots, and let go of offers that were not answered. Each order in a transaction of its own."""
    waiting, over = due_offers()
    due: list[Callable[[], object]] = [partial(_lapse, order_id) for order_id in over]
    due += [partial(offer_late, order_id=order_id) for order_id in waiting]
    each(due, lambda act: act())


def _lapse(order_id: str) -> None:
    with transaction.atomic():
        order, view = _locked(order_id)
        # Accepted or declined a moment ago, or offered anew.
        if order.status != OrderStatus.EXPIRED or order.offered_until is None:
            return
        if clock.now() < order.offered_until:
            return
        withdraw_offer(order)
        if _money_is_there(view) and not screen.stops(order, view):
            all_back(order, view, reason=_reason(view))


def _locked(order_id: str) -> tuple[Order, PaymentView]:
    found = locks.payment_for_update(order_id)
    if found is None:
        raise NotFound(code="not_found", message=_("There is no such order."))
    return found


def _expired_with_money() -> QuerySet[Order]:
    """Full money on an expired order that no refund has answered."""
    enough = Q(payment__view__status=PaymentStatus.SETTLED) | Q(
        payment__view__status=PaymentStatus.EXPIRED,
        payment__view__settled_units__gte=F("payment__due_units"),
    )
    answered = [
        Refund.Reason.LATE_MONEY,
        Refund.Reason.NO_CAPACITY,
        Refund.Reason.EXTENSION_FAILED,
        Refund.Reason.SCREENING,
    ]
    return Order.objects.filter(enough, status=OrderStatus.EXPIRED).exclude(
        payment__refunds__reason__in=answered
    )


def _waits_for_an_offer(order: Order, view: PaymentView) -> bool:
    return order.status == OrderStatus.EXPIRED and order.offered_until is None and _money_is_there(view)


def _money_is_there(view: PaymentView) -> bool:
    """All that the order costs has arrived for good and was not given back."""
    refunds = list(Refund.objects.filter(payment=view.payment))
    legs = legs_of(view)
    if view.status == PaymentStatus.SETTLED:
        parts = counted_parts(view, legs, acceptance_of(view.payment), refunds)
        return bool(parts) and all(left_on(part.leg, refunds) >= part.units for part in parts)
    main = next((leg for leg in legs if leg.code == main_code(view)), None)
    if view.status != PaymentStatus.EXPIRED or main is None:
        return False
    return left_on(main, refunds) >= view.payment.crypto.due_units


def _is_stopped(order: Order, view: PaymentView) -> bool:
    """A sender on a list: nothing is offered before staff have looked."""
    payment = view.payment
    if view.status == PaymentStatus.SETTLED or not payment.takes_crypto:
        return False
    if not screen.holds_back(payment, counted_transfers(payment)):
        return False
    screen.ask(order, view)
    return True


def _keep_lot(order: Order) -> bool:
    """Hold the same lot again at the same price. False where none is free, or too many buyers ask at this moment."""
    quote = order.quote
    until = clock.now() + timedelta(seconds=settings.LATE_OFFER_SECONDS)
    try:
        hold(
            HoldRequest(
                ref=order.public_id,
                # Not the buyer's own count: he has paid, and may have other orders beside this one.
                owner=f"late:{order.public_id}",
                prefix="",
                lot=quote.lot,
                lots=quote.lots,
                term_seconds=quote.days * DAY_SECONDS,
                # A chosen start may lie in the past by now: the lease begins when the buyer says so.
                starts_at=_start_that_still_fits(quote.starts_at, until),
                expires_at=until,
                driver_minimum=driver_needed(quote.image, quote.lot.accelerator),
                limits=HoldLimits(
                    orders_per_owner=1, cards_per_owner=quote.lots * quote.lot.cards, orders_per_prefix=None
                ),
            )
        )
    except Conflict as refusal:
        if refusal.code not in ("no_capacity", "busy"):
            raise
        return False
    offer_again(order, until=until)
    return True


def _start_that_still_fits(starts_at: datetime | None, until: datetime) -> datetime | None:
    lead = timedelta(seconds=settings.START_LEAD_PLACE_SECONDS)
    return starts_at if starts_at is not None and starts_at >= until + lead else None


def _tell_no_lot(order: Order) -> None:
    """Once: a mail with both ways to the buyer, a decision to staff (orders.pay has opened it for money on time)."""
    notify.no_capacity(order)
    if Event.objects.filter(name=NO_CAPACITY, order_ref=order.public_id).exists():
        return
    events.emit(name="order.no_capacity", subject=f"order:{order.pk}", order_ref=order.public_id)
    decisions.open_decision(
        kind="order_no_capacity",
        subject=f"order:{order.pk}",
        order_ref=order.public_id,
        facts={"total": f"{order.quote.total:.2f}", "currency": order.quote.currency, "why": "late_money"},
        due_at=clock.now() + timedelta(seconds=settings.NO_CAPACITY_REFUND_SECONDS),
    )


def _told_at(order: Order) -> datetime:
    first = Event.objects.filter(name=NO_CAPACITY, order_ref=order.public_id).order_by("id").first()
    return first.at if first is not None else clock.now()


def _reason(view: PaymentView) -> str:
    return Refund.Reason.NO_CAPACITY if view.status == PaymentStatus.SETTLED else Refund.Reason.LATE_MONEY


def _close_questions(order: Order, view: PaymentView, *, reason: str) -> None:
    decisions.close_open(kind="payment_late", subject=f"payment:{view.payment_id}", reason=reason)
    decisions.close_open(kind="order_no_capacity", subject=f"order:{order.pk}", reason=reason)
