"""The catalogue and the page of one accelerator with its configurator."""

from dataclasses import replace
from datetime import date
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from billing.services.checkout import anonymous_limits
from catalog import selectors as catalog
from catalog.offers import OptionChoice
from catalog.tax import bill_to
from core import clock
from core.errors import Refusal
from fleet.free_now import free_now
from fleet.stamp import sale_stamp
from orders.models import Quote
from orders.services.quote import QuoteRequest, make_quote
from shop import visitor
from shop.forms.catalog import CatalogFilterForm
from shop.forms.configure import ConfigureForm
from shop.kept import Draft, kept_page
from shop.pages.catalogue import catalogue_page, terms_on_sale
from shop.pages.charts import charts
from shop.pages.configurator import Configurator, configurator
from shop.pages.specs import specs_of
from shop.pages.total import total_of
from shop.views.errors import shows_refusals

# The button of a browser without scripts: it shows the total and asks for no quote.
SHOW_TOTAL = "show_total"
# What a link into the configurator may carry.
_FROM_QUERY = ("lot", "lots", "days", "image", "replaces", "start", "start_date", "start_hour")
# As old as a count of free lots may be where nothing was booked meanwhile.
_KEPT_SECONDS = 10
_LIST_NAMES = frozenset(CatalogFilterForm.base_fields)
_PAGE_NAMES = frozenset({"lot", "days", "from"})


@require_safe
@shows_refusals
def catalog_page(request: HttpRequest) -> HttpResponse:
    """Every accelerator that passes the filters, on sale or not; up to four beside each other."""
    stamp = sale_stamp()
    with clock.offset_read_once(stamp.offset):
        return kept_page(
            request,
            stamp=stamp.text,
            seconds=_KEPT_SECONDS,
            names=_LIST_NAMES,
            draft=lambda: _catalogue(request.GET),
        )


def _catalogue(query: QueryDict) -> Draft:
    entries = catalog.catalogue()
    terms = [term.days for term in terms_on_sale(entries)]
    form = CatalogFilterForm(
        query,
        terms=terms,
        vendors=sorted({entry.accelerator.vendor for entry in entries}),
        sizes=sorted({size for entry in entries for size in entry.lot_cards}),
        accelerators=[entry.accelerator.slug for entry in entries],
    )
    valid = form.is_valid()
    asked = form.cleaned_data
    days = asked.get("days") or (terms[0] if terms else 0)
    page = catalogue_page(
        entries,
        asked=asked,
        marked=query.getlist("compare"),
        days=days,
        free=free_now(term_days=days),
    )
    if form.errors.keys() - {"compare"}:
        page = replace(page, rows=())
    context = {"form": form, "page": page, "charts": charts(page.rows, currency=page.currency)}
    return Draft("shop/catalog.html", context, status=200 if valid else 400)


@require_http_methods(["GET", "HEAD", "POST"])
@shows_refusals
def accelerator_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Specifications and the configurator; POST freezes a quote and leads to it."""
    if request.method == "POST":
        return _ask_for_quote(request, slug)
    stamp = sale_stamp()
    with clock.offset_read_once(stamp.offset):
        return kept_page(
            request,
            stamp=stamp.text,
            seconds=_KEPT_SECONDS,
            names=_PAGE_NAMES,
            draft=lambda: _accelerator(slug, request.GET),
        )


def _accelerator(slug: str, query: QueryDict) -> Draft:
    offer = _offer(slug, query)
    form = ConfigureForm(initial=_initial(offer, query), option_fields=offer.option_fields)
    return Draft("shop/accelerator.html", _context(offer, form))


def _ask_for_quote(request: HttpRequest, slug: str) -> HttpResponse:
    offer = _offer(slug, request.POST)
    form = ConfigureForm(request.POST, option_fields=offer.option_fields)
    if not form.is_valid():
        return _shown_again(request, offer, form, status=400)
    if SHOW_TOTAL in request.POST:
        return _shown_again(request, offer, form, status=200)
    try:
        quote = make_quote(_quote_request(form))
    except Refusal as refusal:
        form.refuse(refusal)
        return _shown_again(request, offer, form, status=refusal.status)
    return _to_quote(request, quote, replaces=form.cleaned_data["replaces"])


def _shown_again(
    request: HttpRequest, offer: Configurator, form: ConfigureForm, *, status: int
) -> HttpResponse:
    return render(request, "shop/accelerator.html", _context(offer, form), status=status)


@require_safe
@shows_refusals
def total_part(request: HttpRequest, slug: str) -> HttpResponse:
    """The total of the configurator as it stands, for the live part; freezes nothing."""
    catalog.accelerator_by_slug(slug=slug)
    context = {"total": total_of(ConfigureForm(request.GET)), "in_place": True}
    return render(request, "shop/parts/total.html", context)


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


def _context(offer: Configurator, form: ConfigureForm) -> dict[str, Any]:
    return {
        "offer": offer,
        "accelerator": offer.accelerator,
        "form": form,
        "specs": specs_of(offer.accelerator),
        "total": total_of(form, offer=offer),
        "changes": form["replaces"].value(),
        "show_total": SHOW_TOTAL,
        "quote_minutes": settings.QUOTE_VALID_SECONDS // 60,
    }


def _offer(slug: str, asked: QueryDict) -> Configurator:
    return configurator(
        sale=catalog.sale_of(slug=slug),
        days=_days(asked.get("days", "")),
        lot_code=asked.get("lot", ""),
        first_day=_first_day(asked.get("from", "")),
    )


def _first_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _days(text: str) -> int | None:
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
