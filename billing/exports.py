"""Tables about money as files: orders with what was paid, the books, revenue, refunds, documents."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from billing.card_amounts import to_amount
from billing.lifecycle import RefundStatus
from billing.models import Invoice, LedgerEntry, PaymentRequest, PaymentView, Rail, Refund
from billing.revenue import RevenueRow, revenue
from billing.services.refund import amount_of
from catalog.models import Accelerator
from core.csv_safe import Column
from core.export import Period, Table, by_key
from orders import exports as of_orders
from orders.models import Order


def _payment(row: Order) -> PaymentRequest | None:
    return getattr(row, "payment", None)


def _view(row: Order) -> PaymentView | None:
    return getattr(_payment(row), "view", None)


def _of_payment(name: str, field: str) -> Column[Order]:
    return Column(name, lambda row: getattr(_payment(row), field, None))


def _of_view(name: str, field: str) -> Column[Order]:
    return Column(name, lambda row: getattr(_view(row), field, None))


def _flags(row: Order) -> str:
    view = _view(row)
    return " ".join(view.flags) if view is not None else ""


def _card_received(row: Order) -> Decimal | None:
    view = _view(row)
    return to_amount(view.card_minor, view.payment.currency) if view is not None and view.card_minor else None


def _refunded_units(row: Order) -> int:
    """What arrived back at the buyer, in the asset that was asked for; other assets are in the table of refunds."""
    payment = _payment(row)
    same = [
        refund.units
        for refund in row.refunds.all()
        if payment is not None
        and refund.status == RefundStatus.VERIFIED
        and refund.rail == Rail.CRYPTO
        and (refund.network, refund.asset_contract) == (payment.network, payment.asset_contract)
    ]
    return sum(same)


def _card_refunded(row: Order) -> Decimal | None:
    back = [
        amount_of(refund)
        for refund in row.refunds.all()
        if refund.status == RefundStatus.VERIFIED and refund.rail == Rail.BANK_CARD
    ]
    return sum(back, Decimal(0)) if back else None


def _refunds_open(row: Order) -> int:
    return sum(refund.status != RefundStatus.VERIFIED for refund in row.refunds.all())


_PAID: tuple[Column[Order], ...] = (
    _of_payment("payment_rail", "rail"),
    _of_payment("payment_network", "network"),
    _of_payment("payment_asset", "asset"),
    _of_payment("asset_decimals", "decimals"),
    _of_view("payment_status", "status"),
    Column("payment_flags", _flags),
    _of_view("settled_at", "settled_at"),
    _of_payment("due_units", "due_units"),
    _of_view("received_units", "received_units"),
    _of_view("settled_units", "settled_units"),
    Column("refunded_units", _refunded_units),
    Column("card_received", _card_received),
    Column("card_refunded", _card_refunded),
    Column("refunds_open", _refunds_open),
)


def _orders(period: Period) -> Iterator[Order]:
    rows = of_orders.placed_in(period).select_related("payment", "payment__view")
    return by_key(rows.prefetch_related("refunds"))


ORDERS = Table[Order](
    name="orders",
    label=_("Orders"),
    explain=_("A line per order that was placed in the period: what, when, how it was paid, and for whom."),
    permission="orders.view_order",
    columns=(*of_orders.WHAT, *_PAID, *of_orders.WHO),
    count=lambda period: of_orders.placed_in(period).count(),
    rows=_orders,
)


def _entries(period: Period) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(
        transaction__at__gte=period.begins, transaction__at__lt=period.ends
    ).select_related("transaction", "order")


LEDGER = Table[LedgerEntry](
    name="ledger",
    label=_("The books"),
    explain=_(
        "A line per entry that was booked in the period, both sides of each transaction. The numbers of entries "
        "rise and may have gaps; the lines of one transaction add up to zero in each asset."
    ),
    permission="billing.view_ledgerentry",
    columns=(
        Column("entry", lambda row: row.pk),
        Column("transaction", lambda row: row.transaction_id),
        Column("transaction_key", lambda row: row.transaction.key),
        Column("booked_at", lambda row: row.transaction.at),
        Column("kind", lambda row: row.transaction.kind),
        Column("order", lambda row: row.order.public_id if row.order is not None else None),
        Column("account", lambda row: row.account),
        Column("asset", lambda row: row.asset),
        Column("units", lambda row: row.units),
        Column("debit_units", lambda row: max(row.units, 0)),
        Column("credit_units", lambda row: max(-row.units, 0)),
        Column("day", lambda row: row.day),
    ),
    count=lambda period: _entries(period).count(),
    rows=lambda period: by_key(_entries(period)),
)


class _Revenue(NamedTuple):
    accelerator: str
    figures: RevenueRow


def _revenue(period: Period) -> list[_Revenue]:
    """Small: a line per day, accelerator and term, in this order."""
    slugs = dict(Accelerator.objects.values_list("pk", "slug"))
    rows = revenue(from_day=period.first, to_day=period.ends.date())
    named = [_Revenue(slugs[row.accelerator_id], row) for row in rows]
    return sorted(named, key=lambda row: (row.figures.day, row.accelerator, row.figures.days))


REVENUE = Table[_Revenue](
    name="revenue",
    label=_("Revenue"),
    explain=_(
        "A line per day, accelerator and term, net of tax: what the days of terms have earned, what running terms "
        "are still to earn, and what was given back, by the day on which it was booked."
    ),
    permission="billing.view_ledgerentry",
    columns=(
        Column("day", lambda row: row.figures.day),
        Column("accelerator", lambda row: row.accelerator),
        Column("term_days", lambda row: row.figures.days),
        Column("currency", lambda row: str(settings.CURRENCY)),
        Column("earned", lambda row: row.figures.earned),
        Column("to_come", lambda row: row.figures.to_come),
        Column("given_back", lambda row: row.figures.given_back),
        Column("net", lambda row: row.figures.net),
    ),
    count=lambda period: len(_revenue(period)),
    rows=lambda period: iter(_revenue(period)),
)


def _refunds(period: Period) -> QuerySet[Refund]:
    return Refund.objects.filter(opened_at__gte=period.begins, opened_at__lt=period.ends).select_related(
        "order"
    )


REFUNDS = Table[Refund](
    name="refunds",
    label=_("Refunds"),
    explain=_("A line per refund that was opened in the period, where it goes and how far it is."),
    permission="billing.view_refund",
    columns=(
        Column("refund", lambda row: row.pk),
        Column("order", lambda row: row.order.public_id),
        Column("reason", lambda row: row.reason),
        Column("status", lambda row: row.status),
        Column("rail", lambda row: row.rail),
        Column("network", lambda row: row.network),
        Column("asset", lambda row: row.asset),
        Column("decimals", lambda row: row.decimals),
        Column("units", lambda row: row.units),
        Column("amount", amount_of),
        Column("destination", lambda row: row.destination),
        Column("transaction_hash", lambda row: row.tx_hash),
        Column("card_refund", lambda row: row.card_refund_id),
        Column("opened_at", lambda row: row.opened_at),
        Column("opened_by", lambda row: row.opened_by),
        Column("sent_at", lambda row: row.sent_at),
        Column("sent_by", lambda row: row.sent_by),
        Column("verified_at", lambda row: row.verified_at),
        Column("failed_at", lambda row: row.failed_at),
    ),
    count=lambda period: _refunds(period).count(),
    rows=lambda period: by_key(_refunds(period)),
)


def _invoices(period: Period) -> QuerySet[Invoice]:
    rows = Invoice.objects.filter(issued_at__gte=period.begins, issued_at__lt=period.ends)
    return rows.select_related("order", "cancels").defer("pdf")


def _of_data(name: str, *path: str) -> Column[Invoice]:
    def value(row: Invoice) -> str | None:
        found = row.data
        for step in path:
            found = found.get(step) or {}
        return str(found) if found else None

    return Column(name, value)


def _decimal_of_data(name: str) -> Column[Invoice]:
    return Column(name, lambda row: Decimal(row.data[name]))


INVOICES = Table[Invoice](
    name="invoices",
    label=_("Documents"),
    explain=_("A line per invoice, receipt, cancellation and credit note that was issued in the period."),
    permission="billing.view_invoice",
    columns=(
        Column("number", str),
        Column("kind", lambda row: row.kind),
        Column("issued_at", lambda row: row.issued_at),
        Column("order", lambda row: row.order.public_id),
        Column("cancels", lambda row: str(row.cancels) if row.cancels is not None else None),
        _of_data("currency", "currency"),
        _decimal_of_data("subtotal"),
        _decimal_of_data("tax"),
        _decimal_of_data("total"),
        _of_data("country", "buyer", "country"),
        _of_data("vat_id", "buyer", "vat_id"),
        _of_data("buyer_name", "buyer", "name"),
        _of_data("buyer_company", "buyer", "company"),
        Column("language", lambda row: row.language),
    ),
    count=lambda period: _invoices(period).count(),
    rows=lambda period: by_key(_invoices(period)),
)

TABLES: dict[str, Table[Any]] = {table.name: table for table in (ORDERS, LEDGER, REVENUE, REFUNDS, INVOICES)}
