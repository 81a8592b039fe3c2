"""Book what has changed for one order: the difference between what the books say and what they must say."""

from typing import Any

from django.db import connection
from django.db.models import Sum

from billing import ledger, locks
from billing.ledger import Line
from billing.models import LedgerEntry, LedgerTransaction, PaymentView
from billing.order_facts import gather
from core import clock
from orders.models import Order


def post(*, order_id: str, kind: str) -> LedgerTransaction | None:
    """Bring the books of one order up to its facts; None where they are already.

    Locks the order and the view of its payment; must run in the transaction of the change. Safe to repeat.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("The books are kept in the transaction of the change.")
    found = locks.payment_for_update(order_id)
    if found is None:
        return None
    return post_locked(*found, kind=kind)


def post_locked(order: Order, view: PaymentView, *, kind: str) -> LedgerTransaction | None:
    """The same for an order and a view that the caller has locked and saved."""
    changed = difference(order, view)
    if not changed:
        return None
    number = LedgerTransaction.objects.filter(order=order).count() + 1
    facts: dict[str, Any] = {
        "order_status": order.status,
        "payment_status": view.status,
        "flags": list(view.flags),
    }
    row = LedgerTransaction.objects.create(
        key=f"{order.public_id}:{number}", kind=kind, order=order, facts=facts, at=clock.now()
    )
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            transaction=row,
            account=line.account,
            asset=line.asset,
            units=units,
            order=order,
            day=line.day,
        )
        for line, units in sorted(changed.items(), key=lambda item: str(item[0]))
    )
    return row


def difference(order: Order, view: PaymentView) -> dict[Line, int]:
    """What is missing in the books of this order, by account."""
    wanted = ledger.positions(gather(order, view))
    booked = booked_positions(order)
    lines = {*wanted, *booked}
    changed = {line: wanted.get(line, 0) - booked.get(line, 0) for line in lines}
    return {line: units for line, units in changed.items() if units}


def booked_positions(order: Order) -> dict[Line, int]:
    """What the books say of one order now."""
    rows = (
        LedgerEntry.objects.filter(order=order)
        .order_by()
        .values_list("account", "asset", "day")
        .annotate(sum=Sum("units"))
    )
    return {Line(account, asset, day): int(units) for account, asset, day, units in rows if units}
