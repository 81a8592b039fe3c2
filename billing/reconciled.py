"""What our own rows say of money, compared with each other: books, leases, transfers, refunds. Reads only."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, F, Sum

from billing import gap, offers, pool
from billing.card_offer import cards_are_taken
from billing.ledger import COLLECTED
from billing.legs import left_on, legs_of
from billing.lifecycle import PaymentStatus
from billing.models import LedgerEntry, LedgerTransaction, PaymentView, Refund, RefundMovement, Transfer
from billing.services.after_restore import CARDS_STEP
from billing.services.post import difference
from core import restored
from core.models import Decision
from fleet.lifecycle import OVER_STATES, TEARDOWN_STATES, LeaseStatus
from fleet.models import Lease
from fleet.services.after_restore import STEP as MACHINES_STEP
from orders.models import Order

_AFTER_RESTORE = (
    "backup_restored",
    "payment_after_backup",
    "card_payment_after_backup",
    "lease_end_differs",
    "mails_held",
    "orphan_machine",
)
# Leases that need no settled money: over, on their way out, or paused because it was taken back.
_NEEDS_NO_MONEY = {*OVER_STATES, *TEARDOWN_STATES, LeaseStatus.SUSPENDED}


@dataclass(frozen=True)
class Difference:
    """Two things that must agree and do not: where, what each side says."""

    about: str
    subject: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.about}: {self.subject}: expected {self.expected}, found {self.found}"


def row_differences() -> Iterator[Difference]:
    """Everything that our own rows can tell. Reads each order that money was booked for."""
    yield from _unbalanced()
    yield from _books()
    yield from _leases()
    yield from _counted_twice()
    yield from _refunds()
    yield from _restored()


def _unbalanced() -> Iterator[Difference]:
    rows = (
        LedgerEntry.objects.order_by()
        .values_list("transaction__key", "asset")
        .annotate(sum=Sum("units"))
        .exclude(sum=0)
    )
    for key, asset, units in rows:
        yield Difference("ledger", f"transaction {key} in {asset}", "0", str(units))


def _books() -> Iterator[Difference]:
    """Each order's entries against the positions that its facts give."""
    views = PaymentView.objects.select_related(
        "payment", "payment__address", "payment__order", "payment__order__quote", "payment__order__extends"
    )
    for view in views.order_by("pk").iterator(chunk_size=200):
        order = view.payment.order
        for line, units in sorted(difference(order, view).items(), key=str):
            yield Difference(
                "ledger", f"order {order.public_id}, {line.account} in {line.asset}", f"{units:+d} more", "0"
            )


def _leases() -> Iterator[Difference]:
    """No lease without settled money."""
    living = Lease.objects.exclude(status__in=_NEEDS_NO_MONEY)
    refs = dict(living.values_list("order_ref", "status"))
    paid = set(
        PaymentView.objects.filter(
            payment__order__public_id__in=refs, status=PaymentStatus.SETTLED
        ).values_list("payment__order__public_id", flat=True)
    )
    for ref, status in sorted(refs.items()):
        if ref not in paid:
            yield Difference("lease", f"order {ref}, {status}", "settled money", "none")


def _counted_twice() -> Iterator[Difference]:
    """One transfer stands once in its chain, and one movement serves one refund."""
    twice = (
        Transfer.objects.in_chain()
        .exclude(tx_hash="")
        .order_by()
        .values_list("chain_id", "tx_hash", "ordinal")
        .annotate(times=Count("pk"))
        .filter(times__gt=1)
    )
    for chain_id, tx_hash, ordinal, times in twice:
        yield Difference("transfer", f"chain {chain_id}, {tx_hash} #{ordinal}", "once", f"{times} times")
    for row in Refund.objects.annotate(times=Count("movements")).filter(times__gt=1):
        yield Difference("refund", f"refund {row.pk}", "one movement", "several")
    short = RefundMovement.objects.filter(units__lt=F("refund__units")).select_related("refund")
    for movement in short:
        yield Difference(
            "refund", f"refund {movement.refund_id}", str(movement.refund.units), str(movement.units)
        )


def _refunds() -> Iterator[Difference]:
    """Refunds of a leg never pass what was received on it."""
    orders = Order.objects.filter(refunds__isnull=False).distinct().select_related("payment__view")
    for order in orders.order_by("pk").iterator(chunk_size=200):
        view = PaymentView.objects.select_related("payment", "payment__address").get(payment__order=order)
        refunds = list(Refund.objects.filter(payment=view.payment))
        legs = legs_of(view)
        for leg in legs:
            if left_on(leg, refunds) < 0:
                given = sum(row.units for row in refunds if leg.carries(row))
                yield Difference(
                    "refund", f"order {order.public_id} in {leg.code}", f"at most {leg.units}", str(given)
                )
        for row in refunds:
            if not any(leg.carries(row) for leg in legs):
                yield Difference("refund", f"order {order.public_id}, refund {row.pk}", "money", "none")


def _restored() -> Iterator[Difference]:
    """After a restore the books cannot be judged before money of lost orders was looked for, and machines too."""
    if restored.latest() is None:
        return
    open_looks = {
        "deposit addresses of lost orders": bool(offers.networks())
        and not gap.is_searched(pool.xpub().fingerprint),
        "card payments of lost orders": cards_are_taken() and restored.awaits(CARDS_STEP),
        "machines of lost leases": restored.awaits(MACHINES_STEP),
    }
    for what in (what for what, is_open in open_looks.items() if is_open):
        yield Difference("restore", what, "looked for", "not yet")


def restore_points() -> list[str]:
    """What a person still has to settle since the last restore, for the report; empty where nothing was restored."""
    restoration = restored.latest()
    if restoration is None:
        return []
    counts = (
        Decision.objects.filter(kind__in=_AFTER_RESTORE, closed_at=None)
        .order_by("kind")
        .values_list("kind")
        .annotate(count=Count("pk"))
    )
    return [
        f"Restored at {restoration.restored_at:%Y-%m-%d %H:%M} UTC from the {restoration}.",
        *(f"{count} open: {kind}" for kind, count in counts),
    ]


def deposits_booked(network: str, asset: str) -> dict[int, int]:
    """Order key -> base units that the books say lie at deposit addresses of one network in one asset."""
    rows = (
        LedgerEntry.objects.filter(account=f"deposits:{network}", asset=f"{network}:{asset}")
        .order_by()
        .values_list("order")
        .annotate(sum=Sum("units"))
    )
    return {order: int(units) for order, units in rows if order is not None}


def totals() -> list[tuple[str, str, int]]:
    """Account, asset, sum: the whole books, for the report."""
    rows = (
        LedgerEntry.objects.order_by("account", "asset")
        .values_list("account", "asset")
        .annotate(sum=Sum("units"))
    )
    return [(account, asset, int(units)) for account, asset, units in rows if units]


def counts() -> dict[str, int]:
    """How much was looked at, for the report."""
    return {
        "orders": LedgerTransaction.objects.values("order").distinct().count(),
        "transactions": LedgerTransaction.objects.count(),
        "collected_accounts": LedgerEntry.objects.filter(account=COLLECTED)
        .values("order")
        .distinct()
        .count(),
    }
