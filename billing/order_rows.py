"""An order with all that is known of its money, read in one query: for its page, and less of it for the page's look
for news every few seconds."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Sum

from billing.chain_facts import BLOCK_TIME_SLACK, SETTLED
from billing.models import (
    BalanceReading,
    CardFact,
    CardSession,
    ChainState,
    Credit,
    Invoice,
    PaymentView,
    Refund,
    Transfer,
)
from core.compiled import CompiledQuery
from core.joined import read_rows, rows_of
from core.models import Event, OutgoingMail
from fleet.models import Lease
from orders.models import Order

# A login changes nothing that a page must be drawn anew for.
_SILENT_EVENTS = ("lease.login",)


@dataclass(frozen=True)
class OrderRows:
    """`view`, `chain`, `lease`: None where there are none; the lease comes with `news_of` alone. `newest_event`: each
    change of state of the order, its lease, payment and refunds writes one, so it stands for all of them."""

    order: Order
    view: PaymentView | None
    chain: ChainState | None
    sessions: list[CardSession]
    facts: list[CardFact]
    newest_event: int
    extension_states: tuple[str, ...]
    lease: Lease | None = None
    refunds: list[Refund] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    settled_number: int | None = None
    documents: list[Invoice] = field(default_factory=list)
    credited: Decimal = Decimal(0)
    is_reversed: bool = False
    had_no_capacity: bool = False
    extensions: list[Order] = field(default_factory=list)


def news_of(token: str) -> OrderRows | None:
    """What the live part of a page needs, by the secret of the page; None: there is no such order. One query."""
    found: Any = _NEWS.first(token)
    if found is None:
        return None
    return OrderRows(**_of(found), lease=next(iter(read_rows(Lease, found.joined_lease)), None))


def page_of(token: str) -> OrderRows | None:
    """All that the page shows of an order and its money. One query."""
    found: Any = _PAGE.first(token)
    if found is None:
        return None
    return OrderRows(
        **_of(found),
        refunds=read_rows(Refund, found.joined_refunds),
        transfers=read_rows(Transfer, found.joined_transfers),
        settled_number=found.settled_number,
        documents=read_rows(Invoice, found.joined_documents),
        credited=found.credited or Decimal("0.00"),
        is_reversed=found.newest_of_money == "payment.reversed",
        had_no_capacity=found.had_no_capacity,
        extensions=read_rows(Order, found.joined_extensions),
    )


def _base(token: str) -> QuerySet[Order, Any]:
    events = Event.objects.filter(order_ref=OuterRef("public_id")).exclude(name__in=_SILENT_EVENTS)
    return (
        Order.objects.filter(token=token)
        .select_related("payment__address", "payment__view")
        .annotate(
            joined_chain=rows_of(ChainState.objects.filter(network=OuterRef("payment__network"))),
            joined_sessions=rows_of(
                CardSession.objects.filter(payment=OuterRef("payment__pk")).order_by("attempt")
            ),
            joined_facts=rows_of(
                CardFact.objects.filter(payment=OuterRef("payment__pk"))
                .order_by("kind", "reference", "-id")
                .distinct("kind", "reference")
            ),
            newest_event=Subquery(events.order_by("-id").values("id")[:1]),
            extension_states=ArraySubquery(
                Order.objects.filter(extends=OuterRef("pk")).order_by("pk").values("status")
            ),
        )
    )


def _news(token: str) -> QuerySet[Order, Any]:
    leases = Lease.objects.filter(order_ref=OuterRef("public_id"))
    return _base(token).annotate(joined_lease=rows_of(leases, also=["hold"]))


def _page(token: str) -> QuerySet[Order, Any]:
    own = {"order": OuterRef("pk")}
    events = Event.objects.filter(order_ref=OuterRef("public_id"))
    of_money = events.filter(name__in=["payment.settled", "payment.reversed"]).order_by("-id")
    extensions = Order.objects.filter(extends=OuterRef("pk")).order_by("pk")
    return (
        _base(token)
        .select_related(
            "quote__lot__accelerator",
            "quote__image",
            "extends",
            "payment__address",
            "payment__view",
        )
        .annotate(
            joined_refunds=rows_of(Refund.objects.filter(**own).order_by("pk")),
            joined_transfers=rows_of(_transfers()),
            settled_number=Subquery(_settled_readings().values("block_number")[:1]),
            joined_documents=rows_of(
                Invoice.objects.filter(**own).annotate(is_cancelled=F("cancelled_by__id")).order_by("pk"),
                also=["is_cancelled"],
            ),
            credited=Subquery(
                Credit.objects.filter(**own).values("order").annotate(sum=Sum("amount")).values("sum")
            ),
            newest_of_money=Subquery(of_money.values("name")[:1]),
            had_no_capacity=Exists(events.filter(name="order.no_capacity")),
            mail_failed=Exists(
                OutgoingMail.objects.filter(
                    order_ref=OuterRef("public_id"), status=OutgoingMail.Status.FAILED
                )
            ),
            joined_extensions=rows_of(extensions, also=["quote"]),
        )
    )


def _of(found: Any) -> dict[str, Any]:
    try:
        view = found.payment.view
    except ObjectDoesNotExist:
        view = None
    return {
        "order": found,
        "view": view,
        "chain": next(iter(read_rows(ChainState, found.joined_chain)), None),
        "sessions": read_rows(CardSession, found.joined_sessions),
        "facts": read_rows(CardFact, found.joined_facts),
        "newest_event": found.newest_event or 0,
        "extension_states": tuple(found.extension_states),
    }


def _transfers() -> QuerySet[Transfer, Any]:
    """As chain_facts.counted_transfers, for the payment of the outer order."""
    return Transfer.objects.in_chain().filter(
        payment=OuterRef("payment__pk"),
        chain_id=OuterRef("payment__chain_id"),
        asset_contract=OuterRef("payment__asset_contract"),
        block_number__gte=OuterRef("payment__from_block"),
        block_time__gte=OuterRef("payment__opened_at") - BLOCK_TIME_SLACK,
    )


def _settled_readings() -> QuerySet[BalanceReading, Any]:
    return BalanceReading.objects.filter(
        payment=OuterRef("payment__pk"),
        chain_id=OuterRef("payment__chain_id"),
        asset_contract=OuterRef("payment__asset_contract"),
        kind=SETTLED,
    ).order_by("-id")


_NEWS = CompiledQuery(_news)
_PAGE = CompiledQuery(_page)
