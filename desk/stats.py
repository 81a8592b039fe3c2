"""The row of figures above the decisions: ten seconds to see how the shop stands. Zero is said calmly."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from billing.card_amounts import to_amount
from billing.lifecycle import RefundStatus
from billing.models import Rail, Refund
from core import clock
from core.decision_kinds import answered_with
from core.formats import amount_text, duration_text, token_text
from core.money import units_to_amount
from desk.links import Person, may_see
from desk.queue import Waiting
from fleet.models import Card, Node

# A decision is of the work whose permission answers it (anchorgpu/decisions.py).
_PAYMENTS, _LEASES = "billing.change_paymentrequest", "fleet.change_lease"
_DUE = (RefundStatus.ADDRESS_NEEDED, RefundStatus.DUE, RefundStatus.FAILED)


@dataclass(frozen=True)
class Stat:
    """`figure` large, `unit` small beside it, `text` below."""

    figure: str
    text: str
    unit: str = ""


def stats_of(kinds: Mapping[str, Waiting], person: Person) -> list[Stat]:
    """Four figures at most, each only for those who may see what it counts. Three queries at most."""
    found = [_payments(kinds), _leases(kinds)]
    if may_see(person, "fleet.node"):
        found.append(_unhealthy())
    if may_see(person, "billing.refund"):
        found.append(_refunds(kinds))
    return found


def _count(kinds: Mapping[str, Waiting], names: Iterable[str]) -> int:
    return sum(kinds[name].count for name in names if name in kinds)


def _payments(kinds: Mapping[str, Waiting]) -> Stat:
    count = _count(kinds, answered_with(_PAYMENTS))
    return Stat(str(count), ngettext("payment to look at", "payments to look at", count))


def _leases(kinds: Mapping[str, Waiting]) -> Stat:
    count = _count(kinds, answered_with(_LEASES))
    dues = [kinds[name].due_at for name in answered_with(_LEASES) if name in kinds]
    nearest: datetime | None = min((due for due in dues if due is not None), default=None)
    if nearest is None:
        return Stat(str(count), ngettext("lease in trouble", "leases in trouble", count))
    left = nearest - clock.now()
    if left <= timedelta(0):
        text = ngettext(
            "lease in trouble, a deadline has passed", "leases in trouble, a deadline has passed", count
        )
        return Stat(str(count), text)
    text = ngettext(
        "lease in trouble, next deadline in %(left)s", "leases in trouble, next deadline in %(left)s", count
    )
    return Stat(str(count), text % {"left": duration_text(left)})


def _unhealthy() -> Stat:
    nodes = Node.objects.filter(healthy=False).count()
    cards = Card.objects.filter(healthy=False).count()
    if nodes and cards:
        text = ngettext("node unhealthy, and %(cards)d card", "nodes unhealthy, and %(cards)d cards", nodes)
        return Stat(str(nodes), text % {"cards": cards})
    if cards:
        return Stat(str(cards), ngettext("card unhealthy", "cards unhealthy", cards))
    return Stat(str(nodes), ngettext("node unhealthy", "nodes unhealthy", nodes))


def _refunds(kinds: Mapping[str, Waiting]) -> Stat:
    rows = list(
        Refund.objects.filter(status__in=_DUE)
        .order_by()
        .values("rail", "asset", "decimals")
        .annotate(
            units=Sum("units"),
            count=Count("pk"),
            asks=Count("pk", filter=Q(status=RefundStatus.ADDRESS_NEEDED)),
        )
    )
    to_send = _count(kinds, ["refund_due"])
    if not rows:
        return Stat("0", _("refunds due"))
    sums = [_sum(row["rail"], row["asset"], row["decimals"], int(row["units"])) for row in rows]
    # The asset with most refunds large, the others beside the words: sums of different assets are never added up.
    order = sorted(range(len(rows)), key=lambda place: (-rows[place]["count"], rows[place]["asset"]))
    (figure, unit), *more = [sums[place] for place in order]
    asks = sum(row["asks"] for row in rows)
    parts = [
        ngettext("refund due", "refunds due", sum(row["count"] for row in rows)),
        *(_("also %(amount)s %(asset)s") % {"amount": amount, "asset": asset} for amount, asset in more),
        ngettext("%(count)d to send", "%(count)d to send", to_send) % {"count": to_send},
    ]
    if asks:
        parts.append(
            ngettext("%(count)d waits for an address", "%(count)d wait for an address", asks)
            % {"count": asks}
        )
    return Stat(figure, ", ".join(parts), unit)


def _sum(rail: str, asset: str, decimals: int, units: int) -> tuple[str, str]:
    if rail == Rail.BANK_CARD:
        return amount_text(to_amount(units, asset), places=None), asset
    return token_text(units_to_amount(units, decimals)), asset
