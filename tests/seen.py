"""The transfers of an order as its page shows them."""

from billing.order_rows import page_of
from billing.selectors import TransferSeen, seen_of_rows
from orders.models import Order


def transfers_seen(order: Order) -> tuple[TransferSeen, ...]:
    rows = page_of(order.token)
    assert rows is not None
    assert rows.view is not None
    return seen_of_rows(rows.view.payment, rows.transfers, settled_number=rows.settled_number)
