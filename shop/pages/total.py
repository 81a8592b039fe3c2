"""The total of the configurator as it stands; what is priced here is priced in the same way by the quote."""

from dataclasses import dataclass

from catalog import selectors as catalog
from catalog.offers import ChosenOption, LotOffer
from catalog.pricing import PricedQuote, price_quote
from catalog.tax import bill_to, tax_for
from core.errors import Refusal
from shop.forms.configure import ConfigureForm
from shop.pages.configurator import Configurator


@dataclass(frozen=True)
class Total:
    """What is chosen costs `priced`, or `sentence` says why it costs nothing yet."""

    priced: PricedQuote | None
    sentence: str = ""


def total_of(form: ConfigureForm, *, offer: Configurator | None = None) -> Total:
    """The total of a form that was sent, else of what it starts with. No query where `offer` has the prices and no
    option is chosen; 3 otherwise."""
    try:
        if not form.is_bound:
            return Total(_priced_at_start(form, offer) if offer is not None else None)
        return Total(_priced(form, offer) if form.is_valid() else None)
    except Refusal as refusal:
        return Total(None, refusal.text)


def _priced(form: ConfigureForm, offer: Configurator | None) -> PricedQuote:
    asked = form.cleaned_data
    lot = (offer and offer.offer_for(asked["lot"], asked["days"])) or catalog.lot_offer(
        lot=asked["lot"], days=asked["days"]
    )
    options = catalog.chosen_options(lot=lot, choices=form.option_choices())
    return _quoted(lot, asked["lots"], options, asked["country"], asked["kind"], asked["vat_id"])


def _priced_at_start(form: ConfigureForm, offer: Configurator) -> PricedQuote | None:
    """A link may have chosen lot, number and term; options are never chosen at the start."""
    days, lots = str(form["days"].value()), str(form["lots"].value())
    if not (days.isdecimal() and lots.isdecimal() and len(days + lots) < 12):
        return None
    lot = offer.offer_for(str(form["lot"].value()), int(days))
    if lot is None or int(lots) < 1:
        return None
    return _quoted(lot, int(lots), (), form["country"].value(), form["kind"].value(), "")


def _quoted(
    lot: LotOffer, lots: int, options: tuple[ChosenOption, ...], country: str, kind: str, vat_id: str
) -> PricedQuote:
    who = bill_to(country=country, kind=kind, vat_id=vat_id or None)
    return price_quote(lot_price=lot, lots=lots, options=options, tax=tax_for(who))
