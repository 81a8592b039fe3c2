"""Freeze a price: lines, tax, total, expiry, and a signed document."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings

from catalog import selectors as catalog
from catalog.models import Image, Lot
from catalog.offers import LotOffer, OptionChoice
from catalog.pricing import PricedQuote, price_quote
from catalog.tax import BillTo, tax_for
from core import clock
from core.rows import insert
from fleet.limits import HoldLimits, check_order_size
from orders import ids, signing
from orders.models import Quote
from orders.starts import check_start


@dataclass(frozen=True)
class QuoteRequest:
    """What a buyer wants priced. `limits` are those of the caller, so that a hopeless order is refused early."""

    lot: str
    lots: int
    days: int
    image: str
    options: Sequence[OptionChoice]
    starts_at: datetime | None
    bill_to: BillTo
    limits: HoldLimits


def make_quote(request: QuoteRequest) -> Quote:
    """Check that the order can be sold and freeze its price for QUOTE_VALID_SECONDS.

    Locks nothing and holds nothing. Raises Refusal(not_on_sale, image_incompatible, start_not_offered,
    too_many_cards, ...) and Invalid. Each call makes a new quote.
    """
    shelf = catalog.current_shelf()
    offer = shelf.lot_offer(lot=request.lot, days=request.days)
    lot = shelf.lots[offer.lot_code]
    image = shelf.image_for(code=request.image, accelerator=lot.accelerator).image
    starts_at = check_start(request.starts_at, lead_seconds=settings.START_LEAD_QUOTE_SECONDS)
    priced = price_by_sheet(request, offer, shelf.options)
    check_order_size(card_count=lot.cards * request.lots, limits=request.limits)
    return _freeze(request, lot, image, starts_at, priced)


def price_by_sheet(request: QuoteRequest, offer: LotOffer, sheet: catalog.OptionSheet) -> PricedQuote:
    """What the request costs at the prices of an offer and a sheet, nothing frozen. No query."""
    return price_quote(
        lot_price=offer,
        lots=request.lots,
        options=catalog.options_from(lot=offer, choices=request.options, sheet=sheet),
        tax=tax_for(request.bill_to),
    )


def _freeze(
    request: QuoteRequest, lot: Lot, image: Image, starts_at: datetime | None, priced: PricedQuote
) -> Quote:
    moment = clock.now()
    quote = Quote(
        public_id=ids.quote_id(),
        lot=lot,
        lots=request.lots,
        days=request.days,
        image=image,
        options=[{"code": choice.code, "quantity": choice.quantity} for choice in request.options],
        starts_at=starts_at,
        bill_to=asdict(request.bill_to),
        lines=[_line(line) for line in priced.lines],
        subtotal=priced.subtotal,
        tax=priced.tax,
        total=priced.total,
        currency=priced.currency,
        price_version=priced.price_version,
        created_at=moment,
        expires_at=moment + timedelta(seconds=settings.QUOTE_VALID_SECONDS),
    )
    signed = signing.sign(document_of(quote))
    quote.document, quote.signature, quote.key_id = signed.document, signed.signature, signed.key_id
    insert(quote)
    return quote


def _line(line: Any) -> dict[str, Any]:
    return {
        "kind": line.kind,
        "code": line.code,
        "facts": dict(line.facts),
        "quantity": line.quantity,
        "unit_amount": f"{line.unit_amount:.2f}",
        "amount": f"{line.amount:.2f}",
    }


def document_of(quote: Quote) -> dict[str, Any]:
    """What is signed: everything that was promised, money as strings, times in RFC 3339."""
    return {
        "type": "anchorgpu.quote.v1",
        "issuer": settings.SITE_URL,
        "simulated": settings.PROVIDER == "simulated",
        "id": quote.public_id,
        "lot": quote.lot.code,
        "cards_per_lot": quote.lot.cards,
        "accelerator": quote.lot.accelerator.slug,
        "lots": quote.lots,
        "days": quote.days,
        "image": quote.image.code,
        "options": quote.options,
        "starts_at": instant(quote.starts_at),
        "bill_to": quote.bill_to,
        "lines": quote.lines,
        "subtotal": f"{quote.subtotal:.2f}",
        "tax": f"{quote.tax:.2f}",
        "total": f"{quote.total:.2f}",
        "currency": quote.currency,
        "price_version": quote.price_version,
        "created_at": instant(quote.created_at),
        "expires_at": instant(quote.expires_at),
    }


def instant(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment is not None else None
