"""One box for everything that staff are given in a mail or read on a screen: found in full or by its beginning.

Each finder asks an index, so that the box stays quick whatever the shop has sold (tests/desk/test_search.py).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Lower
from django.utils.translation import gettext as _

from billing.addresses import checksum_address
from billing.models import (
    CardEvent,
    CardFact,
    CardSession,
    ChainState,
    Claim,
    DepositAddress,
    Invoice,
    Refund,
    Transfer,
)
from billing.services.refund import amount_of
from core.formats import token_text
from desk import state_words
from desk.links import Person, may_see, row_url
from fleet.models import Card, Lease, Node
from orders.models import Order, Quote

HITS = 20
MAX_LENGTH = 200
# Shorter beginnings would find half of the table.
SHORTEST_BEGINNING = 3
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_HASH = re.compile(r"0x[0-9a-fA-F]{64}")
_INVOICE = re.compile(r"([A-Za-z0-9-]{1,20})-0*([0-9]{1,9})")
_PROCESSOR = re.compile(r"(cs|pi|re|dp|du|evt|pyr)_[A-Za-z0-9_]+")
_ORDER_PAGE = re.compile(r"/orders/([A-Za-z0-9_-]+)")


@dataclass(frozen=True)
class Hit:
    text: str
    url: str
    note: str = ""


@dataclass(frozen=True)
class Group:
    """Hits of one table. `is_cut`: more fit than are shown."""

    title: str
    hits: list[Hit]
    is_cut: bool


def search(query: str, person: Person) -> list[Group]:
    """All tables that this person may see and where something fits. Text is storable and not empty."""
    groups = []
    for label, title, find, tell in _FINDERS:
        if not may_see(person, label):
            continue
        rows = list(find(query)[: HITS + 1])
        if rows:
            hits = [tell(row) for row in rows[:HITS]]
            groups.append(Group(title=title(), hits=hits, is_cut=len(rows) > HITS))
    return groups


def _orders(query: str) -> QuerySet[Order]:
    page = _ORDER_PAGE.search(query)
    found = _ids(
        Order,
        [
            Q(public_id=query) | Q(token=page[1] if page else query),
            Q(public_id__startswith=query) if query.startswith("ord_") and _is_long(query) else None,
        ],
    )
    if "@" in query:
        folded = query.lower()
        by_mail = Order.objects.annotate(to=Lower("mail_to"), contact=Lower("contact_email")).order_by()
        found |= set(by_mail.filter(to=folded).values_list("pk", flat=True)[: HITS + 1])
        found |= set(by_mail.filter(contact=folded).values_list("pk", flat=True)[: HITS + 1])
    if _ADDRESS.fullmatch(query):
        address = checksum_address(query)
        found |= set(
            DepositAddress.objects.filter(address=address, payment__isnull=False).values_list(
                "payment__order_id", flat=True
            )
        )
    if _HASH.fullmatch(query):
        found |= _orders_by_hash(query.lower())
    if _PROCESSOR.fullmatch(query):
        found |= _orders_by_processor(query)
    return Order.objects.filter(pk__in=found).select_related("quote").order_by("-id")


def _orders_by_hash(tx_hash: str) -> set[int]:
    """By a transfer that came, or by what the buyer said he has sent."""
    # Its index begins with the chain, and there is a handful of them.
    chains = list(ChainState.objects.values_list("chain_id", flat=True))
    came = Transfer.objects.filter(chain_id__in=chains, tx_hash=tx_hash).order_by()
    said = Claim.objects.filter(transaction_hash=tx_hash).order_by()
    return set(came.values_list("payment__order_id", flat=True)[: HITS + 1]) | set(
        said.values_list("payment__order_id", flat=True)[: HITS + 1]
    )


def _orders_by_processor(reference: str) -> set[int]:
    """By a session, a payment, a refund, a dispute or an event of the card processor."""
    sessions = set(
        CardEvent.objects.filter(event_id=reference)
        .exclude(session_id="")
        .values_list("session_id", flat=True)
    )
    found = set(
        CardSession.objects.filter(session_id__in={reference, *sessions}).values_list(
            "payment__order_id", flat=True
        )
    )
    for fact in (Q(reference=reference), Q(payment_intent=reference)):
        rows = CardFact.objects.filter(fact).order_by().values_list("payment__order_id", flat=True)
        found |= set(rows[: HITS + 1])
    return found


def _quotes(query: str) -> QuerySet[Quote]:
    return Quote.objects.filter(public_id=query)


def _refunds(query: str) -> QuerySet[Refund]:
    found: set[int] = set()
    if query.startswith("ord_"):
        found = _ids(Refund, [Q(order__public_id=query)])
    elif _ADDRESS.fullmatch(query):
        found = _ids(Refund, [Q(destination=checksum_address(query))])
    elif _HASH.fullmatch(query):
        found = _ids(Refund, [Q(tx_hash=query.lower())])
    elif _PROCESSOR.fullmatch(query):
        found = set(
            Refund.objects.filter(movements__card_refund_id=query).order_by().values_list("pk", flat=True)
        )
    return Refund.objects.filter(pk__in=found).select_related("order").order_by("-id")


def _invoices(query: str) -> QuerySet[Invoice]:
    if query.startswith("ord_"):
        return Invoice.objects.filter(order__public_id=query).select_related("order")
    parts = _INVOICE.fullmatch(query)
    if parts is None:
        return Invoice.objects.none()
    return Invoice.objects.filter(series=parts[1].upper(), number=int(parts[2])).select_related("order")


def _leases(query: str) -> QuerySet[Lease]:
    if query.startswith("ord_"):
        return Lease.objects.filter(order_ref=query)
    return Lease.objects.filter(username=query)


def _cards(query: str) -> QuerySet[Card]:
    return Card.objects.filter(_beginning("serial", query)).select_related("node").order_by("serial")


def _nodes(query: str) -> QuerySet[Node]:
    return Node.objects.filter(_beginning("name", query)).select_related("accelerator").order_by("name")


def _beginning(field: str, query: str) -> Q:
    return Q(**{f"{field}__startswith" if _is_long(query) else field: query})


def _is_long(query: str) -> bool:
    return len(query.removeprefix("ord_")) >= SHORTEST_BEGINNING


def _ids(model: type[Model], conditions: Iterable[Q | None]) -> set[int]:
    """Keys by several conditions, each a query of its own: together they would hide their indexes."""
    found: set[int] = set()
    for condition in conditions:
        if condition is not None:
            rows = model._default_manager.filter(condition).order_by().values_list("pk", flat=True)
            found |= set(rows[: HITS + 1])
    return found


def _order_hit(row: Order) -> Hit:
    note = _("%(status)s · %(total)s %(currency)s · %(name)s, %(mail)s") % {
        "status": state_words.ORDER[row.status],
        "total": token_text(row.quote.total),
        "currency": row.quote.currency,
        "name": row.contact_company or row.contact_name,
        "mail": row.mail_to,
    }
    return Hit(row.public_id, row_url(row), note)


def _quote_hit(row: Quote) -> Hit:
    return Hit(
        row.public_id,
        row_url(row),
        f"{state_words.QUOTE[row.status]} · {token_text(row.total)} {row.currency}",
    )


def _refund_hit(row: Refund) -> Hit:
    text = f"{token_text(amount_of(row))} {row.asset}"
    state = state_words.REFUND[row.status]
    return Hit(text, row_url(row), f"{state} · {row.order.public_id} · {row.destination}")


def _invoice_hit(row: Invoice) -> Hit:
    return Hit(str(row), row_url(row), f"{state_words.DOCUMENT[row.kind]} · {row.order.public_id}")


def _lease_hit(row: Lease) -> Hit:
    return Hit(row.username, row_url(row), f"{state_words.LEASE[row.status]} · {row.order_ref}")


def _card_hit(row: Card) -> Hit:
    words = _("healthy") if row.healthy else _("unhealthy")
    return Hit(row.serial, row_url(row), f"{row.node.name} · {words}")


def _node_hit(row: Node) -> Hit:
    words = _("healthy") if row.healthy else _("unhealthy")
    return Hit(row.name, row_url(row), f"{row.accelerator.name} · {words}")


Finder = tuple[str, Callable[[], str], Callable[[str], "QuerySet[Model]"], Callable[..., Hit]]
_FINDERS: list[Finder] = [
    ("orders.order", lambda: _("Orders"), _orders, _order_hit),
    ("orders.quote", lambda: _("Quotes"), _quotes, _quote_hit),
    ("billing.refund", lambda: _("Refunds"), _refunds, _refund_hit),
    ("billing.invoice", lambda: _("Invoices"), _invoices, _invoice_hit),
    ("fleet.lease", lambda: _("Leases"), _leases, _lease_hit),
    ("fleet.card", lambda: _("Cards"), _cards, _card_hit),
    ("fleet.node", lambda: _("Nodes"), _nodes, _node_hit),
]
