"""Ask the screening source about the senders of money that would pay, once, and keep the answer."""

from collections.abc import Iterable
from datetime import datetime

from django.db import connection

from billing import screening
from billing.models import PaymentRequest, PaymentView, ScreeningVerdict, Transfer
from core import clock, decisions
from core.models import Decision
from orders.models import Order

_BY_STAFF = "staff:"


def holds_back(payment: PaymentRequest, transfers: Iterable[Transfer]) -> bool:
    """Whether this money waits for staff. Writes what is new about a sender, in the transaction of the recompute.

    What staff cleared stays clear for this payment. Senders are shown and screened, never matched with an order.
    """
    return _holds_any(payment, {row.sender for row in transfers})


def stops(order: Order, view: PaymentView) -> bool:
    """Whether nothing of this order's money, in whatever asset and on whatever network, may go back before staff have
    looked at its senders; asks them. For an order and a view that the caller has locked."""
    payment = view.payment
    if not screening.is_on() or not payment.takes_crypto:
        return False
    rows = list(Transfer.objects.in_chain().filter(payment=payment))
    told = {(row.chain_id, row.asset_contract) for row in rows}
    senders = {row.sender for row in rows}
    if any((other["chain_id"], other["contract"]) not in told for other in view.others):
        senders.add("")  # a coin by mistake: nobody says who sent it
    if not _holds_any(payment, senders):
        return False
    ask(order, view)
    return True


def ask(order: Order, view: PaymentView) -> None:
    """Put the senders before staff: once, and again where a verdict is newer than their last answer."""
    kind, subject = "payment_screening", f"payment:{view.payment_id}"
    last = Decision.objects.filter(kind=kind, subject=subject).order_by("-id").first()
    if last is not None and (last.closed_at is None or not _is_newer(view.payment, last.closed_at)):
        return
    decisions.open_decision(
        kind=kind,
        subject=subject,
        order_ref=order.public_id,
        facts={
            "received_units": str(view.settled_units),
            "asset": view.payment.asset,
            "others": view.others,
            "senders": sorted(row.address for row in _latest(view.payment).values() if _is_held(row)),
        },
    )


def _is_newer(payment: PaymentRequest, closed_at: datetime) -> bool:
    return any(_is_held(row) and row.at > closed_at for row in _latest(payment).values())


def _is_held(row: ScreeningVerdict) -> bool:
    return screening.holds(row.verdict)


def _holds_any(payment: PaymentRequest, senders: Iterable[str]) -> bool:
    if not screening.is_on():
        return False
    if not connection.in_atomic_block:
        raise RuntimeError("A verdict is written in the transaction of what follows from it.")
    last = _latest(payment)
    verdicts = [_verdict(payment, sender, last) for sender in sorted(senders)]
    return any(screening.holds(verdict) for verdict in verdicts)


def clear_all(payment: PaymentRequest, *, actor: str) -> int:
    """Staff looked at the senders of one payment and let their money pass; how many were cleared. Append-only."""
    stopped = [row for row in _latest(payment).values() if _is_held(row)]
    for row in stopped:
        ScreeningVerdict.objects.create(
            payment=payment,
            address=row.address,
            verdict=ScreeningVerdict.Verdict.CLEAR,
            source=f"{_BY_STAFF}{actor}"[:120],
            at=clock.now(),
        )
    return len(stopped)


def _latest(payment: PaymentRequest) -> dict[str, ScreeningVerdict]:
    rows = ScreeningVerdict.objects.filter(payment=payment).order_by("address", "-id").distinct("address")
    return {row.address: row for row in rows}


def _verdict(payment: PaymentRequest, sender: str, last: dict[str, ScreeningVerdict]) -> str:
    known = last.get(sender)
    if known is not None and known.source.startswith(_BY_STAFF):
        return known.verdict
    verdict = screening.screen(sender)
    if known is None or known.verdict != verdict:
        ScreeningVerdict.objects.create(
            payment=payment, address=sender, verdict=verdict, source=screening.source(), at=clock.now()
        )
    return verdict
