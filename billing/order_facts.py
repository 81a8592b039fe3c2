"""Gather what the books need to know of one order, from its rows. Reads only; the caller holds the order's lock."""

from billing import ledger
from billing.card_amounts import to_minor
from billing.counted import Counted, acceptance_of, counted_parts
from billing.ledger import LegFacts, OrderFacts, RefundFacts
from billing.legs import Leg, legs_of, main_code
from billing.lifecycle import PaymentFlag, PaymentStatus
from billing.models import BalanceReading, Credit, PaymentView, Refund, RefundMovement
from billing.terms import earned_days
from orders.lifecycle import OrderStatus
from orders.models import Order

# The order took its money: from here on it is revenue, or will be.
TOOK_MONEY = frozenset({OrderStatus.PAID, OrderStatus.PROVISIONING, OrderStatus.ACTIVE, OrderStatus.ENDED})


def gather(order: Order, view: PaymentView) -> OrderFacts:
    """The facts of one order."""
    payment = view.payment
    currency = payment.currency
    total = to_minor(payment.amount, currency)
    legs = legs_of(view)
    refunds = list(Refund.objects.filter(payment=payment))
    counts = view.status == PaymentStatus.SETTLED and order.status in TOOK_MONEY
    parts = counted_parts(view, legs, acceptance_of(payment), refunds) if counts else []
    paid = _movements(refunds)
    facts = [_leg_facts(view, leg, parts, refunds, paid) for leg in legs]
    facts += _emptied(view, legs, refunds, paid)
    return OrderFacts(
        currency=currency,
        total=total,
        tax=to_minor(order.quote.tax, currency),
        is_open=order.status == OrderStatus.AWAITING_PAYMENT,
        counts=counts,
        legs=facts,
        earned=earned_days(order) if counts else (),
        credited=_credited(order, facts, currency) if counts else 0,
        written_off=total - sum(part.worth for part in parts) if counts else 0,
    )


def _movements(refunds: list[Refund]) -> dict[int, int]:
    paid: dict[int, int] = {}
    for row in RefundMovement.objects.filter(refund__in=[refund.pk for refund in refunds]):
        paid[row.refund_id] = paid.get(row.refund_id, 0) + row.units
    return paid


def _leg_facts(
    view: PaymentView, leg: Leg, parts: list[Counted], refunds: list[Refund], paid: dict[int, int]
) -> LegFacts:
    part = next((part for part in parts if part.leg.code == leg.code), None)
    return LegFacts(
        asset=leg.book_asset,
        network=leg.network,
        units=leg.units,
        held=_held(view, leg),
        gone=leg.gone,
        counted=part.units if part else 0,
        worth=part.worth if part else 0,
        refunds=_refund_facts([row for row in refunds if leg.carries(row)], paid),
    )


def _refund_facts(refunds: list[Refund], paid: dict[int, int]) -> list[RefundFacts]:
    return [RefundFacts(reason=row.reason, units=row.units, paid=paid.get(row.pk)) for row in refunds]


def _emptied(
    view: PaymentView, legs: list[Leg], refunds: list[Refund], paid: dict[int, int]
) -> list[LegFacts]:
    """Legs whose money a reorg took back after a refund of it was opened: the books show what is missing."""
    orphans = [row for row in refunds if not any(leg.carries(row) for leg in legs)]
    by_asset: dict[tuple[str, str], list[Refund]] = {}
    for row in orphans:
        asset = f"{row.network}:{row.asset}" if row.network else row.asset
        by_asset.setdefault((asset, row.network), []).append(row)
    return [
        LegFacts(asset=asset, network=network, units=0, held=0, refunds=_refund_facts(rows, paid))
        for (asset, network), rows in by_asset.items()
    ]


def _held(view: PaymentView, leg: Leg) -> int:
    """What still lies at the deposit address; less than what arrived once the operator has collected it."""
    is_main = leg.code == main_code(view)
    if leg.chain_id is None or (is_main and PaymentFlag.SWEPT not in view.flags):
        return leg.units
    reading = (
        BalanceReading.objects.filter(
            payment=view.payment,
            kind=BalanceReading.Kind.SETTLED,
            chain_id=leg.chain_id,
            asset_contract=leg.contract,
        )
        .order_by("-id")
        .first()
    )
    return min(leg.units, reading.units) if reading is not None else leg.units


def _credited(order: Order, legs: list[LegFacts], currency: str) -> int:
    """Credits that no refund was opened for yet."""
    granted = sum(to_minor(row.amount, currency) for row in Credit.objects.filter(order=order))
    refunded = sum(
        ledger.worth_of(leg, [row for row in leg.refunds if row.reason == Refund.Reason.CREDIT])
        for leg in legs
    )
    return max(0, granted - refunded)
