"""Close what nobody paid: quotes by the clock, orders when billing knows that no money came."""

from core import clock
from fleet.services.release import release
from orders import locks
from orders.lifecycle import ORDER, QUOTE, OrderStatus, QuoteStatus
from orders.models import Quote
from orders.services import notify


def expire_unpaid(*, order_id: str) -> None:
    """An order whose payment is confirmed unpaid. Locks the order, then the hold. Safe to repeat."""
    order = locks.order_for_update(order_id)
    if order is None or order.status != OrderStatus.AWAITING_PAYMENT:
        return
    release(ref=order.public_id)
    ORDER.advance(order, OrderStatus.EXPIRED, order_ref=order.public_id)
    notify.expired(order)


def expire_quote(*, quote_id: str) -> bool:
    """Mark one open quote whose time is over. Locks the quote."""
    quote = locks.quote_for_update(quote_id)
    if quote is None or quote.status != QuoteStatus.OPEN or quote.expires_at > clock.now():
        return False
    QUOTE.advance(quote, QuoteStatus.EXPIRED, order_ref="")
    return True


def overdue_quotes(limit: int = 500) -> list[str]:
    """Open quotes whose time is over, oldest first."""
    return list(
        Quote.objects.filter(status=QuoteStatus.OPEN, expires_at__lte=clock.now())
        .order_by("expires_at")
        .values_list("public_id", flat=True)[:limit]
    )
