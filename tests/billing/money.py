"""What tests about refunds and the books share."""

from collections import defaultdict
from typing import Any

from django.db.models import Sum

from billing import ledger
from billing.models import LedgerEntry, LedgerTransaction, Refund
from billing.services.post import difference
from core.models import Decision
from orders.models import Order

DESTINATION = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
OTHER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"


def balances(order: Order | None = None) -> dict[tuple[str, str], int]:
    """Account and asset -> sum of all entries."""
    rows = LedgerEntry.objects.all() if order is None else LedgerEntry.objects.filter(order=order)
    found = rows.order_by().values_list("account", "asset").annotate(sum=Sum("units"))
    return {(account, asset): int(units) for account, asset, units in found if units}


def in_and_out(order: Order) -> dict[str, tuple[int, int]]:
    """By asset: money that came in, and what it is booked as (paid for the order, excess, due back, undecided)."""
    money_in: dict[str, int] = defaultdict(int)
    booked: dict[str, int] = defaultdict(int)
    for (account, asset), units in balances(order).items():
        if ":" not in asset:
            continue
        if account.startswith("deposits:") or account == ledger.COLLECTED:
            money_in[asset] += units
        else:
            booked[asset] -= units
    return {asset: (units, booked[asset]) for asset, units in money_in.items()}


def check_books() -> None:
    """Every transaction balances by asset, and every order's books say what its facts say."""
    off = (
        LedgerEntry.objects.order_by()
        .values("transaction", "asset")
        .annotate(sum=Sum("units"))
        .exclude(sum=0)
    )
    assert not list(off)
    for order in Order.objects.filter(payment__isnull=False).select_related("quote", "payment__view"):
        if LedgerTransaction.objects.filter(order=order).exists():
            assert difference(order, order.payment.view) == {}
            for asset, (money_in, booked) in in_and_out(order).items():
                assert money_in == booked, (asset, money_in, booked)


def open_decision(order: Order, kind: str) -> Decision:
    return Decision.objects.get(order_ref=order.public_id, kind=kind, closed_at=None)


def refunds(order: Order) -> list[tuple[str, int, str]]:
    """Reason, units and status of each refund, oldest first."""
    return [(row.reason, row.units, row.status) for row in Refund.objects.filter(order=order)]


def only(rows: Any) -> Any:
    (row,) = list(rows)
    return row
