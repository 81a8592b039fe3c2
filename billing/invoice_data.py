"""What a document says, as it is frozen at its issue: plain JSON, amounts and instants as text."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext

from billing import offers
from billing.card_amounts import to_amount, to_minor
from billing.invoices.words import counted, word
from billing.lifecycle import PaymentFlag
from billing.models import CardFact, PaymentRequest, PaymentView, Rail, Transfer
from catalog.pricing import KIND_LOT, KIND_OPTION, KIND_TAX
from core.formats import amount_text, percent_text
from core.money import units_to_amount
from orders.models import Order, Quote
from orders.services.quote import instant

VERSION = 1
SAMPLE_SELLER = ("AnchorGPU demo", "Sample Street 1", "00000 Sampletown")


@dataclass(frozen=True)
class Buyer:
    """Who is billed, as it is printed. `address` has a line per line; country, kind and number are the quote's."""

    name: str
    company: str
    address: str = ""


def seller() -> dict[str, Any] | None:
    """Name and address from the imprint, first line first. None where a true installation has no imprint."""
    lines = [line.strip() for line in settings.IMPRINT.splitlines() if line.strip()]
    if not lines and not settings.DEMO:
        return None
    return {
        "name": lines[0] if lines else SAMPLE_SELLER[0],
        "lines": lines[1:] if lines else list(SAMPLE_SELLER[1:]),
        "country": settings.SHOP_COUNTRY,
        "vat_id": settings.SELLER_VAT_ID,
        "sample": settings.DEMO,
    }


def buyer_of(order: Order) -> Buyer:
    """As the order has it."""
    return Buyer(name=order.contact_name, company=order.contact_company)


def invoice_data(
    order: Order, *, sold_by: dict[str, Any], buyer: Buyer, refers_to: dict[str, str] | None = None
) -> dict[str, Any]:
    """Everything on an invoice of this order. Reads its payment; three queries at most."""
    quote = order.quote
    return {
        "version": VERSION,
        "simulated": settings.PROVIDER == "simulated",
        "seller": sold_by,
        "buyer": {
            "name": buyer.name,
            "company": buyer.company,
            "address": buyer.address,
            "email": order.contact_email,
            **quote.bill_to,
        },
        "order": {
            "id": order.public_id,
            "placed_at": instant(order.placed_at),
            "extends": order.extends.public_id if order.extends else "",
        },
        "supply": {"days": quote.days, "starts_at": instant(quote.starts_at)},
        "lines": lines_in_words(quote, order.contact_language),
        "taxes": [_tax_of(quote)],
        "subtotal": f"{quote.subtotal:.2f}",
        "tax": f"{quote.tax:.2f}",
        "total": f"{quote.total:.2f}",
        "currency": quote.currency,
        "payment": payment_of(order),
        "refers_to": refers_to,
        "reason": "",
    }


def lines_in_words(quote: Quote, language: str) -> list[dict[str, str]]:
    """Lot and option lines in the buyer's language, with the amounts that were signed."""
    makers = {KIND_LOT: _lot_words, KIND_OPTION: _option_words}
    lines = []
    with translation.override(language):
        for line in quote.lines:
            if line["kind"] not in makers:
                continue
            label, detail, quantity = makers[line["kind"]](line, language, quote.currency)
            lines.append(
                {
                    "label": label,
                    "detail": detail,
                    "quantity": quantity,
                    "unit_amount": line["unit_amount"],
                    "amount": line["amount"],
                }
            )
    return lines


def _lot_words(line: dict[str, Any], language: str, currency: str) -> tuple[str, str, str]:
    facts = line["facts"]
    discount = Decimal(facts["discount"])
    detail = word(
        language,
        "lot_detail_discount" if discount else "lot_detail",
        cards=counted(language, "cards", int(facts["cards"])),
        hours=amount_text(Decimal(facts["hours"]), places=0),
        price=amount_text(Decimal(facts["card_hour_amount"]), places=None),
        currency=currency,
        discount=percent_text(discount),
    )
    label = counted(language, "lot_of", int(facts["cards"]), name=facts["name"])
    return label, detail, counted(language, "lots", line["quantity"])


def _option_words(line: dict[str, Any], language: str, currency: str) -> tuple[str, str, str]:
    facts = line["facts"]
    price = amount_text(Decimal(line["unit_amount"]))
    if facts["recurring"] == "true":
        detail = counted(language, "option_days", int(facts["days"]), price=price, currency=currency)
    else:
        detail = word(language, "option_once", price=price, currency=currency)
    # Names and units are sentences of the catalogue's data and come from the site's translations.
    quantity = f"{amount_text(line['quantity'], places=0)}\u00a0{gettext(facts['unit'])}"
    return gettext(facts["name"]), detail, quantity


def _tax_of(quote: Quote) -> dict[str, Any]:
    line = next(line for line in quote.lines if line["kind"] == KIND_TAX)
    return {
        "country": line["code"],
        "rate": line["facts"]["rate"],
        "treatment": line["facts"]["treatment"],
        "included": "contained_amount" in line["facts"],
        "net": f"{quote.subtotal:.2f}",
        "tax": f"{quote.tax:.2f}",
    }


def payment_of(order: Order) -> dict[str, Any] | None:
    """How it was paid, as far as it is known now: the way that covers the sum, with hashes or a reference."""
    view = (
        PaymentView.objects.select_related("payment", "payment__address").filter(payment__order=order).first()
    )
    if view is None:
        return None
    payment = view.payment
    paid = {
        "by_hand": PaymentFlag.BY_HAND in view.flags,
        "settled_at": instant(view.settled_at or order.paid_at),
    }
    minor = to_minor(payment.amount, payment.currency)
    if payment.takes_crypto and (view.card_minor < minor or not minor):
        return paid | _crypto(payment, view)
    return paid | _bank_card(payment, view)


def _crypto(payment: PaymentRequest, view: PaymentView) -> dict[str, Any]:
    crypto = payment.crypto
    network = offers.networks().get(payment.network)
    hashes = Transfer.objects.in_chain().filter(payment=payment).values_list("tx_hash", flat=True)
    return {
        "rail": Rail.CRYPTO.value,
        "network": network.name if network else payment.network,
        "asset": payment.asset,
        "amount": f"{units_to_amount(view.settled_units, crypto.decimals).normalize():f}",
        "transactions": list(dict.fromkeys(hashes)),
    }


def _bank_card(payment: PaymentRequest, view: PaymentView) -> dict[str, Any]:
    fact = (
        CardFact.objects.filter(payment=payment, kind=CardFact.Kind.SESSION)
        .exclude(payment_intent="")
        .order_by("-id")
        .first()
    )
    return {
        "rail": Rail.BANK_CARD.value,
        "asset": payment.currency,
        "amount": f"{to_amount(view.card_minor, payment.currency):f}",
        "reference": fact.payment_intent if fact else "",
    }


def reference_to(number: str, issued_at: datetime, kind: str) -> dict[str, str]:
    """How a document names another one; `kind` says how they hang together (a key of the words)."""
    return {"number": number, "issued_at": str(instant(issued_at)), "kind": kind}
