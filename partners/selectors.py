"""Reads of partners, their keys and what is theirs. Whose an order is says one table: PartnerOrder."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from billing.models import ChainState, PaymentView
from billing.refund_state import RefundState, refunds_by_order
from billing.selectors import PaymentState, states_of_views
from core.errors import NotFound
from core.rows import Columns
from fleet.models import Lease
from fleet.selectors import leases_of_orders
from orders.models import Order
from partners import key_text
from partners.models import ApiKey, Partner, PartnerOrder

# Keeps NUL and megabytes away from the database.
_ORDER_ID = re.compile(r"ord_[0-9A-Z]{20,40}")

# Every call with a key begins with this read: its text is built once.
_KEY, _PARTNER = Columns(ApiKey, "k"), Columns(Partner, "p")
_KEY_SQL = (
    f"SELECT {_KEY.sql}, {_PARTNER.sql} "  # noqa: S608  # nosec B608 # our own names
    "FROM partners_apikey k JOIN partners_partner p ON p.id = k.partner_id WHERE k.hash = %s"
)


def key_by_text(text: str) -> ApiKey | None:
    """The key with its partner, or None. 1 query. Expiry, revocation and mode are judged by the caller.

    The look-up is by hash: how long it takes says nothing about how much of a guess was right.
    """
    if not key_text.is_key_text(text):
        return None
    with connection.cursor() as cursor:
        cursor.execute(_KEY_SQL, [key_text.digest(text)])
        found = cursor.fetchone()
    if found is None:
        return None
    key, rest = _KEY.take(found)
    key.partner = _PARTNER.take(rest)[0]
    return key


@dataclass(frozen=True)
class OrderState:
    """One order of a partner with what is known of its money and its lease; an extension shows the lease that it
    makes longer."""

    owned: PartnerOrder
    payment: PaymentState | None
    lease: Lease | None
    refunds: tuple[RefundState, ...]

    @property
    def order(self) -> Order:
        return self.owned.order


def own_order(*, partner: Partner, order_id: str) -> PartnerOrder:
    """An order of this partner. 1 query. Raises NotFound: the same for "none" and "not yours"."""
    found = None
    if _ORDER_ID.fullmatch(order_id):
        found = _own(partner).filter(order__public_id=order_id).first()
    if found is None:
        raise NotFound(code="not_found", message=_("There is no such order."))
    return found


def own_orders(*, partner: Partner, before: int | None, limit: int) -> list[PartnerOrder]:
    """Orders of this partner, the newest first, those placed before the order with the key `before`. 1 query, whose
    time does not grow with the orders that there are: it reads `limit` entries of one index."""
    rows = _own(partner)
    if before is not None:
        rows = rows.filter(order_id__lt=before)
    return list(rows.order_by("-order_id")[:limit])


def order_state(owned: PartnerOrder) -> OrderState:
    """One order. 4 queries at most, with that of `own_order` 5."""
    return order_states([owned])[0]


def order_states(rows: Sequence[PartnerOrder]) -> list[OrderState]:
    """The same for a page of them, in as many queries: leases, refunds, chains, rounds of native coins."""
    views = {row.pk: view for row in rows if (view := _view(row.order)) is not None}
    networks = {view.payment.network for view in views.values()}
    chains = {chain.network: chain for chain in ChainState.objects.filter(network__in=networks)}
    payments = dict(
        zip(
            views,
            states_of_views([(view, chains.get(view.payment.network)) for view in views.values()]),
            strict=True,
        )
    )
    leases = leases_of_orders({lease_ref(row.order) for row in rows})
    refunds = refunds_by_order([row.order_id for row in rows])
    return [
        OrderState(
            owned=row,
            payment=payments.get(row.pk),
            lease=leases.get(lease_ref(row.order)),
            refunds=tuple(refunds.get(row.order_id, ())),
        )
        for row in rows
    ]


def _own(partner: Partner) -> QuerySet[PartnerOrder]:
    """Where every read of a partner's orders begins."""
    return PartnerOrder.objects.filter(partner=partner).select_related(
        "order__quote__lot",
        "order__quote__image",
        "order__extends",
        "order__payment__view",
        "order__payment__address",
    )


def _view(order: Order) -> PaymentView | None:
    payment = getattr(order, "payment", None)
    return getattr(payment, "view", None)


def lease_ref(order: Order) -> str:
    """The order to which the lease of this order belongs."""
    return order.extends.public_id if order.extends is not None else order.public_id
