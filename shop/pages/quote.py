"""The lines of a frozen quote in the reader's language; the figures are those that were signed."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog import tax
from catalog.pricing import KIND_LOT, KIND_OPTION, KIND_TAX
from catalog.stack import driver_needed
from catalog.wording import quantity_text
from core import clock
from core.formats import amount_text, percent_text
from fleet.periods import DAY_SECONDS, held_period
from fleet.selectors import free_lots
from orders.models import Quote


@dataclass(frozen=True)
class QuoteLine:
    """One line as it is read; `detail` explains the amount."""

    label: str
    detail: str
    quantity: str
    amount: Decimal


def lines_of(quote: Quote) -> list[QuoteLine]:
    """Lot and option lines; tax stands below the subtotal."""
    makers = {KIND_LOT: _lot_line, KIND_OPTION: _option_line}
    return [makers[line["kind"]](line) for line in quote.lines if line["kind"] in makers]


def tax_text(quote: Quote) -> str:
    """The rate and the rule that made it."""
    line = next((line for line in quote.lines if line["kind"] == KIND_TAX), None)
    if line is None:
        return ""
    words = {"rate": percent_text(Decimal(line["facts"]["rate"])), "country": line["code"]}
    sentences = {
        tax.DEMO: _("%(rate)s, none is charged in this demo"),
        tax.DOMESTIC: _("VAT %(rate)s"),
        tax.DESTINATION: _("VAT %(rate)s of %(country)s, where you are"),
        tax.REVERSE_CHARGE: _("Reverse charge: your business owes the VAT in %(country)s"),
        tax.OUTSIDE_SCOPE: _("Not subject to VAT of the European Union"),
    }
    return sentences.get(line["facts"]["treatment"], "%(rate)s") % words


def tax_included(quote: Quote) -> bool:
    """Whether the lines are prices that contain the tax."""
    return any("contained_amount" in line["facts"] for line in quote.lines)


def saving_of(quote: Quote) -> Decimal:
    """What the term takes off the list price: a text, never a line."""
    line = next(line for line in quote.lines if line["kind"] == KIND_LOT)
    return Decimal(line["facts"]["list_amount"]) * int(line["quantity"]) - Decimal(line["amount"])


def cards_are_taken(quote: Quote) -> bool:
    """Whether an order at this moment would find too few lots: said before the form is filled in. A look without a
    lock; the sale looks again."""
    moment = clock.now()
    release_at = moment + timedelta(seconds=settings.HOLD_SECONDS + settings.RELEASE_AFTER_EXPIRY_SECONDS)
    period = held_period(
        placed_at=moment,
        starts_at=quote.starts_at,
        release_at=release_at,
        term_seconds=quote.days * DAY_SECONDS,
    )
    driver = driver_needed(quote.image, quote.lot.accelerator)
    return free_lots(lot=quote.lot, period=period, driver_minimum=driver).lots < quote.lots


def _lot_line(line: dict[str, Any]) -> QuoteLine:
    facts = line["facts"]
    cards = int(facts["cards"])
    label = ngettext("%(name)s, lot of %(count)d card", "%(name)s, lot of %(count)d cards", cards) % {
        "name": facts["name"],
        "count": cards,
    }
    words = {
        "cards": ngettext("%(count)d card", "%(count)d cards", cards) % {"count": cards},
        "hours": amount_text(Decimal(facts["hours"]), places=0),
        "price": amount_text(Decimal(facts["card_hour_amount"]), places=None),
        "discount": percent_text(Decimal(facts["discount"])),
    }
    if Decimal(facts["discount"]):
        detail = _("%(cards)s × %(hours)s h × %(price)s, term discount %(discount)s") % words
    else:
        detail = _("%(cards)s × %(hours)s h × %(price)s") % words
    return QuoteLine(
        label=label,
        detail=detail,
        quantity=ngettext("%(count)d lot", "%(count)d lots", line["quantity"]) % {"count": line["quantity"]},
        amount=Decimal(line["amount"]),
    )


def _option_line(line: dict[str, Any]) -> QuoteLine:
    facts = line["facts"]
    days = int(facts["days"])
    unit_amount = amount_text(Decimal(line["unit_amount"]))
    if facts["recurring"] == "true":
        detail = ngettext(
            "%(amount)s per unit for %(count)d day", "%(amount)s per unit for %(count)d days", days
        ) % {"amount": unit_amount, "count": days}
    else:
        detail = _("%(amount)s per unit, once") % {"amount": unit_amount}
    return QuoteLine(
        label=_(facts["name"]),
        detail=detail,
        quantity=quantity_text(int(line["quantity"]), facts["unit"]),
        amount=Decimal(line["amount"]),
    )
