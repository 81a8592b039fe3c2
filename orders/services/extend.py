"""Order more time for a lease: an order of its own, on the same cards, at today's price (DESIGN rule 3)."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import connection
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from catalog import selectors as catalog
from catalog.offers import OptionChoice
from catalog.pricing import KIND_OPTION, PricedQuote
from catalog.tax import BillTo
from core import clock
from core.errors import Conflict, NotFound, Refusal
from fleet import extensions
from fleet.contention import Patience
from fleet.limits import HoldLimits
from fleet.periods import DAY_SECONDS
from fleet.selectors import lease_of_order
from fleet.services.extend import ExtensionRequest, hold_extension
from orders import ids, locks
from orders.lifecycle import ORDER, QUOTE, OrderStatus, QuoteStatus
from orders.models import Order
from orders.services.quote import QuoteRequest, make_quote, price_by_sheet


@dataclass(frozen=True)
class ExtendOrder:
    """Which order goes on for how many days. `prefix` and `limits` are those of whoever asks."""

    order_id: str
    days: int
    prefix: str
    limits: HoldLimits


class ExtensionOpen(Conflict):
    """Another extension of this lease waits for its payment; `order` is that one."""

    def __init__(self, order: Order) -> None:
        super().__init__(
            code="extension_open",
            message=ngettext_lazy(
                "An extension of %(days)s day waits for its payment. Pay it or cancel it first.",
                "An extension of %(days)s days waits for its payment. Pay it or cancel it first.",
                "days",
            ),
            field="days",
            params={"days": order.quote.days, "order": order.public_id},
        )
        self.order = order


def extend(request: ExtendOrder, *, hold_for: timedelta) -> tuple[Order, bool]:
    """Place the extension and hold its time, in the caller's transaction; True where this call made it.

    A repeat for the same days lands on the extension that waits for its payment. Locks the first order, then what
    fleet.services.extend.hold_extension locks. Raises NotFound, ExtensionOpen, what hold_extension and make_quote
    raise. Lot, environment, billing, contact and recurring options are those of the first order; the terms too.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("An extension is placed in the transaction of the checkout.")
    patience = Patience()
    with patience.bounds():
        first = first_order(request.order_id)
    waiting = first.extensions.select_related("quote").filter(status=OrderStatus.AWAITING_PAYMENT).first()
    if waiting is not None:
        if waiting.quote.days == request.days:
            return waiting, False
        raise ExtensionOpen(waiting)
    # Before anything is priced: a lease that cannot go on is refused for that reason.
    extensions.require_extendable(lease_of_order(first.public_id), clock.now())
    made = make_quote(quote_request(first, days=request.days, limits=request.limits))
    quote = locks.quote_for_update(made.public_id)
    if quote is None:
        raise RuntimeError("The quote was written in this transaction.")
    moment = clock.now()
    order_id = ids.order_id()
    hold = hold_extension(
        ExtensionRequest(
            ref=order_id,
            lease_ref=first.public_id,
            owner=first.owner,
            prefix=request.prefix,
            term_seconds=request.days * DAY_SECONDS,
            hold_for=hold_for,
            limits=request.limits,
        ),
        patience=patience,
    )
    order = Order.objects.create(
        public_id=order_id,
        quote=quote,
        extends=first,
        owner=first.owner,
        contact_name=first.contact_name,
        contact_email=first.contact_email,
        contact_company=first.contact_company,
        contact_language=first.contact_language,
        mail_to=first.mail_to,
        mail_language=first.mail_language,
        notify=first.notify,
        # The keys are those of the lease.
        ssh_keys=[],
        terms_version=first.terms_version,
        terms_accepted_at=first.terms_accepted_at,
        placed_at=moment,
        hold_expires_at=hold.expires_at,
    )
    QUOTE.advance(quote, QuoteStatus.ACCEPTED, order_ref=order.public_id)
    ORDER.begin(order, order_ref=order.public_id, name="order.placed", payload={"extends": first.public_id})
    return order, True


def first_order(order_id: str) -> Order:
    """The locked order that the lease belongs to, whichever of its orders is named. Raises NotFound."""
    extends = Order.objects.filter(public_id=order_id).values_list("extends__public_id", flat=True).first()
    order = locks.order_for_update(extends or order_id)
    if order is None:
        raise NotFound(code="not_found", message=_("There is no such order."))
    return order


def quote_request(first: Order, *, days: int, limits: HoldLimits) -> QuoteRequest:
    """What the first order bought, for so many days; options that are charged once do not come again."""
    quote = first.quote
    recurring = {
        line["code"]
        for line in quote.lines
        if line["kind"] == KIND_OPTION and line["facts"].get("recurring") == "true"
    }
    return QuoteRequest(
        lot=quote.lot.code,
        lots=quote.lots,
        days=days,
        image=quote.image.code,
        options=[OptionChoice(**choice) for choice in quote.options if choice["code"] in recurring],
        starts_at=None,
        bill_to=BillTo(**quote.bill_to),
        limits=limits,
    )


def prices_today(first: Order, *, limits: HoldLimits) -> dict[int, PricedQuote]:
    """What an extension costs now, by days; empty where the lot, or an option that would go on, is not on sale.

    One query, one more where options go on.
    """
    lot = first.quote.lot
    offers = [
        offer for offer in catalog.lot_offers(accelerator=lot.accelerator) if offer.lot_code == lot.code
    ]
    options = quote_request(first, days=0, limits=limits).options
    sheet = catalog.option_sheet(lots=offers, choices=options)
    found = {}
    for offer in offers:
        try:
            found[offer.days] = price_by_sheet(
                quote_request(first, days=offer.days, limits=limits), offer, sheet
            )
        except Refusal:
            continue
    return found
