"""An order of a partner, many times over, as rows: what years of sales leave behind."""

from typing import Any

from django.db import connection
from django.db.models import Model

from billing.models import DepositAddress, PaymentRequest, PaymentView
from core.models import Event
from orders.models import Order, Quote
from partners.models import Partner, PartnerOrder

# Keys of the copies begin here: a copy has the same number in every table.
BASE = 1_000_000
EVENTS_EACH = 4


def copy_order(partner: Partner, order: Order, count: int) -> None:
    """Quote, order, payment with its view and address, whose it is, and its events. Ids stay of the same form."""
    number = f"{BASE} + n"
    name = "lpad(upper(to_hex(n)), 27, '0')"
    _copy(Quote, order.quote_id, count, id=number, public_id=f"'qt_' || {name}")
    order_values = {"public_id": f"'ord_' || {name}", "token": f"lpad(n::text, {len(order.token)}, 'a')"}
    _copy(Order, order.pk, count, id=number, quote_id=number, **order_values)
    payment = PaymentRequest.objects.get(order=order)
    address = "'0x' || lpad(to_hex(n), 40, '0')"
    _copy(DepositAddress, payment.address_id, count, id=number, index=number, address=address)
    _copy(PaymentRequest, payment.pk, count, id=number, order_id=number, address_id=number)
    _copy(PaymentView, payment.view.pk, count, id=number, payment_id=number)
    owned = PartnerOrder.objects.get(order=order, partner=partner)
    _copy(PartnerOrder, owned.pk, count, id=number, order_id=number)
    event = Event.objects.filter(order_ref=order.public_id, audience="buyer").order_by("pk")[0]
    for part in range(EVENTS_EACH):
        _copy(
            Event,
            event.pk,
            count,
            id=f"{BASE} + {EVENTS_EACH} * n + {part}",
            order_ref=f"'ord_' || {name}",
            at="at - interval '1 day'",
        )


def _copy(model: type[Model], key: int | None, count: int, **changed: str) -> None:
    """So many copies of a row, with these columns as SQL says; `n` counts them."""
    names = [str(field.column) for field in model._meta.concrete_fields]
    columns = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(changed.get(name, f'"{name}"') for name in names)
    parameters: list[Any] = [count, key]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({columns}) SELECT {values} FROM {model._meta.db_table}, "  # noqa: S608  # nosec B608 # our own names
            f"generate_series(1, %s) AS n WHERE id = %s",
            parameters,
        )
