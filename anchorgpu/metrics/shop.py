"""Gauges of what is sold: orders, payments, money, leases, cards, chains."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from anchorgpu.metrics.gauges import RowGauge, Sample, age, counted, number, product_age
from billing import offers, pool
from billing.card_amounts import to_amount
from billing.lifecycle import PaymentFlag, PaymentStatus, RefundStatus
from billing.models import ChainState, PaymentRequest, PaymentView, Refund
from billing.services.refund import amount_of
from core import clock
from core.decision_kinds import answered_with
from core.models import Decision
from core.money import units_to_amount
from fleet.lifecycle import TEARDOWN_STATES, LeaseStatus, ReservationStatus
from fleet.models import Card, Lease, Reservation
from fleet.periods import turnaround
from orders.lifecycle import OrderStatus
from orders.models import Order

# Who may answer a question about money that came.
PAYMENTS = "billing.change_paymentrequest"


def _flags() -> Iterable[Sample]:
    flags = PaymentFlag.values
    found = PaymentView.objects.aggregate(**{name: Count("pk", Q(flags__contains=[name])) for name in flags})
    return [((name,), float(found[name])) for name in flags]


def _samples(sums: Mapping[tuple[str, ...], Decimal]) -> list[Sample]:
    return [(labels, float(amount)) for labels, amount in sorted(sums.items())]


def _under_decision() -> Iterable[Sample]:
    """What arrived for orders about whose money staff have to decide, in units of its asset."""
    waiting = Decision.objects.filter(closed_at=None, kind__in=answered_with(PAYMENTS)).exclude(order_ref="")
    found: QuerySet[PaymentRequest, Any] = PaymentRequest.objects.filter(
        order__public_id__in=waiting.values("order_ref")
    ).select_related("view")
    known = {asset.symbol for network in offers.networks().values() for asset in network.assets}
    sums: defaultdict[tuple[str, ...], Decimal] = defaultdict(Decimal)
    for payment in found:
        view = payment.view
        if payment.decimals is not None and view.received_units:
            sums[payment.network, payment.asset] += units_to_amount(view.received_units, payment.decimals)
        if view.card_minor:
            sums["bank_card", payment.currency] += to_amount(view.card_minor, payment.currency)
        # Any token may lie on an address: only the symbols of the settings are labels.
        for row in view.others:
            asset = row["asset"] if row["asset"] in known else "other"
            sums[row["network"], asset] += units_to_amount(int(row["units"]), row["decimals"])
    return _samples(sums)


def _refund_money() -> Iterable[Sample]:
    """Only what is under way: a verified refund is history."""
    under_way = (RefundStatus.ADDRESS_NEEDED, RefundStatus.DUE, RefundStatus.SENT, RefundStatus.FAILED)
    sums: defaultdict[tuple[str, ...], Decimal] = defaultdict(Decimal)
    for refund in Refund.objects.filter(status__in=under_way):
        sums[refund.status, refund.network or refund.rail, refund.asset] += amount_of(refund)
    return _samples(sums)


def _late_leases() -> Iterable[Sample]:
    """Past their ready-by, and not delivered yet."""
    waiting = (LeaseStatus.RESERVED, LeaseStatus.PREPARING, LeaseStatus.TESTING)
    return number(Lease.objects.filter(status__in=waiting, ready_by__lt=clock.now()))


def _unwiped() -> Iterable[Sample]:
    """Over, and the engine has not confirmed the wipe within the turnaround: its cards are not sold again."""
    since = clock.now() - turnaround()
    return number(Lease.objects.filter(status__in=TEARDOWN_STATES, wiped_at=None, ending_at__lt=since))


def _cards() -> Iterable[Sample]:
    living = Reservation.objects.filter(card=OuterRef("pk"), period__contains=clock.now())
    out = Q(in_service=False) | Q(healthy=False) | Q(node__in_service=False) | Q(node__healthy=False)
    leased = Exists(living.filter(status=ReservationStatus.COMMITTED))
    held = Exists(living.filter(status=ReservationStatus.HELD))
    found = Card.objects.aggregate(
        leased=Count("pk", Q(leased)),
        held=Count("pk", Q(held)),
        out=Count("pk", ~Q(leased) & ~Q(held) & out),
        all=Count("pk"),
    )
    free = found["all"] - found["leased"] - found["held"] - found["out"]
    return [((state,), float(found[state])) for state in ("leased", "held", "out")] + [
        (("free",), float(free))
    ]


def _chains() -> list[ChainState]:
    return list(ChainState.objects.filter(network__in=list(offers.networks())).order_by("network"))


def _head_lags() -> Iterable[Sample]:
    return [((chain.network,), product_age(chain.head_time)) for chain in _chains() if chain.head_time]


def _read_ages() -> Iterable[Sample]:
    return [((chain.network,), age(chain.checked_at)) for chain in _chains() if chain.checked_at]


def _offered() -> Iterable[Sample]:
    found = {chain.network: chain.offered for chain in _chains()}
    return [((network,), float(found.get(network, False))) for network in sorted(offers.networks())]


def _ready_addresses() -> Iterable[Sample]:
    return [((network,), float(pool.ready_count(network=network))) for network in sorted(offers.networks())]


GAUGES = (
    RowGauge(
        "orders",
        "Orders by state.",
        ("status",),
        lambda: counted(Order.objects.all(), "status", OrderStatus.values),
    ),
    RowGauge(
        "payments",
        "Payments by state, as last computed from the facts.",
        ("status",),
        lambda: counted(PaymentView.objects.all(), "status", PaymentStatus.values),
    ),
    RowGauge("payment_flags", "Payments by what they carry beside their state.", ("flag",), _flags),
    RowGauge(
        "money_under_decision",
        "What arrived for orders whose money waits for staff, in units of the asset.",
        ("network", "asset"),
        _under_decision,
    ),
    RowGauge(
        "refunds",
        "Refunds by state.",
        ("status",),
        lambda: counted(Refund.objects.all(), "status", RefundStatus.values),
    ),
    RowGauge(
        "refund_money",
        "Refunds that are not verified yet, in units of the asset.",
        ("status", "network", "asset"),
        _refund_money,
    ),
    RowGauge(
        "leases",
        "Leases by state.",
        ("status",),
        lambda: counted(Lease.objects.all(), "status", LeaseStatus.values),
    ),
    RowGauge("leases_late", "Leases that should be ready and are not.", (), _late_leases),
    RowGauge("leases_unwiped", "Leases over for longer than the turnaround without a wipe.", (), _unwiped),
    RowGauge("cards", "Cards now: leased, held, out of sale, free.", ("state",), _cards),
    RowGauge("chain_head_lag_seconds", "Age of the newest block that was read.", ("network",), _head_lags),
    RowGauge(
        "chain_read_age_seconds", "Time since a network was last read in full.", ("network",), _read_ages
    ),
    RowGauge("chain_offered", "1 where orders may be paid on this network.", ("network",), _offered),
    RowGauge("pool_addresses_ready", "Clean deposit addresses in the pool.", ("network",), _ready_addresses),
)
