"""Every lock of this app, by name. A payment is always recomputed under the lock on its order (docs/locking.md)."""

from datetime import datetime

from django.db import connection

from billing.models import CardSession, DemoCardRecord, DepositAddress, InvoiceSeries, PaymentView, Refund
from core.locks import mark
from orders.locks import order_for_update
from orders.models import Order


def payment_for_update(order_id: str) -> tuple[Order, PaymentView] | None:
    """The order and, under its lock, the view of its payment; None where there is no such payment."""
    order = order_for_update(order_id)
    if order is None:
        return None
    view = (
        PaymentView.objects.select_for_update(of=("self",))
        .select_related("payment", "payment__address")
        .filter(payment__order=order)
        .first()
    )
    return (order, mark(view)) if view is not None else None


def refund_for_update(refund_id: int) -> Refund | None:
    """One refund, after the order that it belongs to and the view of its payment: its sum is judged by both."""
    order_id = Refund.objects.filter(pk=refund_id).values_list("order__public_id", flat=True).first()
    found = payment_for_update(order_id) if order_id is not None else None
    if found is None:
        return None
    refund = Refund.objects.select_for_update(of=("self",)).get(pk=refund_id)
    refund.order, refund.payment = found[0], found[1].payment
    return mark(refund)


def card_session_for_update(session_id: int) -> tuple[Order, PaymentView, CardSession] | None:
    """One bank-card session, after the order and the view of its payment; None where there is none."""
    order_id = (
        CardSession.objects.filter(pk=session_id).values_list("payment__order__public_id", flat=True).first()
    )
    found = payment_for_update(order_id) if order_id is not None else None
    if found is None:
        return None
    session = CardSession.objects.select_for_update(of=("self",)).get(pk=session_id)
    session.payment = found[1].payment
    return (*found, mark(session))


def demo_card_session_for_update(session_id: str) -> DemoCardRecord | None:
    """The demo's own record of a session, alone in its transactions. Only billing.rails.demo_cards calls this."""
    return (
        DemoCardRecord.objects.select_for_update(of=("self",))
        .filter(kind=DemoCardRecord.Kind.SESSION, reference=session_id)
        .first()
    )


def invoice_series_for_update(name: str) -> InvoiceSeries:
    """One series of documents, to the end of the transaction: a number is used or never given. The last lock of all;
    of several series in the order of their names."""
    InvoiceSeries.objects.bulk_create([InvoiceSeries(name=name)], ignore_conflicts=True)
    return mark(InvoiceSeries.objects.select_for_update(of=("self",)).get(name=name))


# As SQL: it runs in every checkout, and an address that was given out is never looked at again (deposit_pooled). The
# choice is made once (MATERIALIZED), so that exactly the row that it locked is given out.
_NEXT_CLEAN = """
    WITH next AS MATERIALIZED (
        SELECT a.id, c.block_number FROM billing_depositaddress a
        JOIN billing_addresscheck c ON c.address_id = a.id
        WHERE a.xpub_fingerprint = %s AND a.status = 'pooled'
          AND c.network = %s AND c.is_clean AND c.checked_at >= %s
          AND NOT EXISTS (SELECT FROM billing_addresscheck b WHERE b.address_id = a.id AND NOT b.is_clean)
          AND EXISTS (SELECT FROM billing_chainstate s WHERE s.network = c.network AND s.offered)
        ORDER BY a.index LIMIT 1 FOR UPDATE OF a SKIP LOCKED)
    UPDATE billing_depositaddress a SET status = 'issued', issued_at = %s FROM next WHERE a.id = next.id
    RETURNING next.block_number, a.id, a.xpub_fingerprint, a.index, a.address, a.status, a.derived_at, a.issued_at
"""
_ADDRESS = ("id", "xpub_fingerprint", "index", "address", "status", "derived_at", "issued_at")


def next_clean_address(
    *, network: str, fingerprint: str, checked_since: datetime, issued_at: datetime
) -> tuple[DepositAddress, int] | None:
    """Lock the next pooled address with a fresh clean check on `network` and no bad check anywhere and give it out;
    with the block of that check. None as well where the network is not offered now. SKIP LOCKED: two checkouts never
    wait for each other and never get the same one."""
    with connection.cursor() as cursor:
        cursor.execute(_NEXT_CLEAN, [fingerprint, network, checked_since, issued_at])
        row = cursor.fetchone()
    return None if row is None else (DepositAddress.from_db(connection.alias, _ADDRESS, row[1:]), int(row[0]))
