"""What an order is in a table: its own columns. Money is added by billing."""

from django.db.models import QuerySet

from core.csv_safe import Column
from core.export import Period
from orders.models import Order

# Names are for programs: they stay, in every language; new columns come at the end of a table.
WHAT: tuple[Column[Order], ...] = (
    Column("order", lambda row: row.public_id),
    Column("placed_at", lambda row: row.placed_at),
    Column("status", lambda row: row.status),
    Column("extends", lambda row: row.extends.public_id if row.extends is not None else None),
    Column("quote", lambda row: row.quote.public_id),
    Column("price_version", lambda row: row.quote.price_version),
    Column("accelerator", lambda row: row.quote.lot.accelerator.slug),
    Column("lot", lambda row: row.quote.lot.code),
    Column("lots", lambda row: row.quote.lots),
    Column("days", lambda row: row.quote.days),
    Column("image", lambda row: row.quote.image.code),
    Column("starts_at", lambda row: row.quote.starts_at),
    Column("paid_at", lambda row: row.paid_at),
    Column("active_at", lambda row: row.active_at),
    Column("ended_at", lambda row: row.ended_at),
    Column("expired_at", lambda row: row.expired_at),
    Column("cancelled_at", lambda row: row.cancelled_at),
    Column("failed_at", lambda row: row.failed_at),
    Column("currency", lambda row: row.quote.currency),
    Column("subtotal", lambda row: row.quote.subtotal),
    Column("tax", lambda row: row.quote.tax),
    Column("total", lambda row: row.quote.total),
    Column("country", lambda row: row.quote.bill_to.get("country")),
    Column("customer_kind", lambda row: row.quote.bill_to.get("kind")),
    Column("vat_id", lambda row: row.quote.bill_to.get("vat_id")),
)
WHO: tuple[Column[Order], ...] = (
    Column("contact_name", lambda row: row.contact_name),
    Column("contact_company", lambda row: row.contact_company),
    Column("contact_email", lambda row: row.contact_email),
    Column("contact_language", lambda row: row.contact_language),
    Column("notify", lambda row: row.notify),
    Column("erased_at", lambda row: row.erased_at),
)


def placed_in(period: Period) -> QuerySet[Order]:
    """Orders placed in the period, with all that the columns read."""
    return Order.objects.filter(placed_at__gte=period.begins, placed_at__lt=period.ends).select_related(
        "quote", "quote__lot", "quote__lot__accelerator", "quote__image", "extends"
    )
