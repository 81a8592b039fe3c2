"""The catalogue and the page of one accelerator with its configurator."""

from datetime import date
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from billing.services.checkout import anonymous_limits
from catalog import selectors as catalog
from catalog.offers import OptionChoice
from catalog.pricing import PricedQuote, price_quote
from catalog.tax import bill_to, tax_for
from core.errors import Refusal
from orders.models import Quote
from orders.services.quote import QuoteRequest, make_quote
from shop import visitor
from shop.forms.catalog import CatalogFilterForm
from shop.forms.configure import ConfigureForm
from shop.pages.calendar import Calendar, calendar
from shop.pages.configurator import Configurator, configurator
from shop.pages.specs import specs_of
from shop.views.errors import shows_refusals

# What a link into the configurator may carry.
_FROM_QUERY = ("lot", "lots", "days", "image", "replaces", "start", "start_date", "start_hour")


@require_safe
@shows_refusals
def catalog_page(request: HttpRequest) -> HttpResponse:
    """Every accelerator that passes the filters, on sale or not."""
    form = CatalogFilterForm(request.GET, label_suffix="")
    if not form.is_valid():
        return render(request, "shop/catalog.html", {"form": form, "entries": (), "terms": ()}, status=400)
    entries = catalog.catalogue(
        min_memory_gb=form.cleaned_data["min_memory_gb"], stack=form.cleaned_data["stack"] or None
    )
    vendor = form.cleaned_data["vendor"]
    shown = [entry for entry in entries if vendor in ("", entry.accelerator.vendor)]
    return render(
        request,
        "shop/catalog.html",
        {
            "form": form,
            "entries": shown,
            "terms": catalog.terms(),
            "currency": next((entry.currency for entry in entries if entry.currency), ""),
        },
    )


@require_http_methods(["GET", "HEAD", "POST"])
@shows_refusals
def accelerator_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Specifications and the configurator; POST freezes a quote and leads to it."""
    accelerator = catalog.accelerator_by_slug(slug=slug)
    offer = configurator(accelerator=accelerator, days=_days(request))
    if request.method != "POST":
        form = ConfigureForm(initial=_initial(offer, request.GET), option_fields=offer.option_fields)
        return _show(request, offer, form)
    form = ConfigureForm(request.POST, option_fields=offer.option_fields)
    if not form.is_valid():
        return _show(request, offer, form, status=400)
    try:
        quote = make_quote(_quote_request(form))
    except Refusal as refusal:
        form.refuse(refusal)
        return _show(request, offer, form, status=refusal.status)
    return _to_quote(request, quote, replaces=form.cleaned_data["replaces"])


@require_safe
@shows_refusals
def total_part(request: HttpRequest, slug: str) -> HttpResponse:
    """The total of the configurator as it stands, for the live part; freezes nothing."""
    accelerator = catalog.accelerator_by_slug(slug=slug)
    form = ConfigureForm(request.GET)
    priced: PricedQuote | None = None
    sentence = ""
    if form.is_valid():
        try:
            priced = _preview(form)
        except Refusal as refusal:
            sentence = refusal.text
    context = {"accelerator": accelerator, "priced": priced, "sentence": sentence}
    return render(request, "shop/parts/total.html", context)


def _preview(form: ConfigureForm) -> PricedQuote:
    asked = form.cleaned_data
    lot = catalog.lot_offer(lot=asked["lot"], days=asked["days"])
    who = bill_to(country=asked["country"], kind=asked["kind"], vat_id=asked["vat_id"] or None)
    options = catalog.chosen_options(lot=lot, choices=form.option_choices())
    return price_quote(lot_price=lot, lots=asked["lots"], options=options, tax=tax_for(who))


def _quote_request(form: ConfigureForm) -> QuoteRequest:
    asked = form.cleaned_data
    choices: list[OptionChoice] = form.option_choices()
    return QuoteRequest(
        lot=asked["lot"],
        lots=asked["lots"],
        days=asked["days"],
        image=asked["image"],
        options=choices,
        starts_at=form.starts_at(),
        bill_to=bill_to(country=asked["country"], kind=asked["kind"], vat_id=asked["vat_id"] or None),
        limits=anonymous_limits(),
    )


def _to_quote(request: HttpRequest, quote: Quote, *, replaces: str) -> HttpResponse:
    target = reverse("shop:quote", kwargs={"quote_id": quote.public_id})
    if replaces:
        query = QueryDict(mutable=True)
        query["replaces"] = replaces
        target = f"{target}?{query.urlencode()}"
    response = HttpResponseRedirect(target, status=303)
    visitor.remember_owner(response, visitor.owner_of(request) or visitor.new_owner())
    return response


def _show(
    request: HttpRequest, offer: Configurator, form: ConfigureForm, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {
        "offer": offer,
        "accelerator": offer.accelerator,
        "form": form,
        "specs": specs_of(offer.accelerator),
        "calendar": _calendar(request, offer, str(form["lot"].value())),
        "changes": form["replaces"].value(),
    }
    return render(request, "shop/accelerator.html", context, status=status)


def _calendar(request: HttpRequest, offer: Configurator, code: str) -> Calendar | None:
    """Of the chosen lot, else of the smallest; from the asked day, else from today."""
    if not offer.on_sale:
        return None
    lot = next((row.lot for row in offer.lots if row.lot.code == code), offer.lots[0].lot)
    try:
        first = date.fromisoformat(request.GET.get("from", ""))
    except ValueError:
        first = None
    return calendar(lot=lot, days=offer.days, first_day=first)


def _days(request: HttpRequest) -> int | None:
    text = request.POST.get("days", "") if request.method == "POST" else request.GET.get("days", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else None


def _initial(offer: Configurator, query: QueryDict) -> dict[str, Any]:
    """The smallest lot, the shortest term and the first environment that runs. A link may choose."""
    runs = [item.image.code for item in offer.images if item.verdict.runs]
    initial: dict[str, Any] = {
        "lot": offer.lots[0].lot.code if offer.lots else "",
        "days": offer.days,
        "image": runs[0] if runs else "",
    }
    return initial | {name: query[name] for name in _FROM_QUERY if query.get(name)}
