"""Open payments in bulk: copies of one, as rows, for what must not depend on how many there are."""

import itertools
import secrets
from typing import TypeVar

from billing.addresses import checksum_address
from billing.models import DepositAddress, PaymentRequest, PaymentView
from core import clock
from orders.models import Order, Quote

Row = TypeVar("Row", Quote, Order, PaymentRequest)

_numbers = itertools.count(1_000_000)
BATCH = 5_000


def open_many(like: Order, count: int) -> None:
    """`count` orders that wait for the same sum as `like`, each at an address of its own that nobody pays."""
    for start in range(0, count, BATCH):
        _open(like, min(BATCH, count - start))


def _open(like: Order, count: int) -> None:
    keys = [next(_numbers) for _ in range(count)]
    quotes = Quote.objects.bulk_create(_copy(like.quote, public_id=f"qt_many{key}") for key in keys)
    orders = Order.objects.bulk_create(
        _copy(like, public_id=f"ord_many{key}", token=secrets.token_urlsafe(24), quote=quote)
        for key, quote in zip(keys, quotes, strict=True)
    )
    deposits = DepositAddress.objects.bulk_create(
        DepositAddress(
            xpub_fingerprint="many",
            index=key,
            address=checksum_address("0x" + secrets.token_hex(20)),
            status=DepositAddress.Status.ISSUED,
            derived_at=clock.now(),
            issued_at=clock.now(),
        )
        for key in keys
    )
    payments = PaymentRequest.objects.bulk_create(
        _copy(like.payment, order=order, address=deposit)
        for order, deposit in zip(orders, deposits, strict=True)
    )
    until = PaymentView.objects.get(payment=like.payment).watch_until
    PaymentView.objects.bulk_create(PaymentView(payment=payment, watch_until=until) for payment in payments)


def _copy(row: Row, **changes: object) -> Row:
    """A new row with the same values."""
    values = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if not field.primary_key and field.name not in changes
    }
    return type(row)(**values, **changes)
