"""The page of a frozen quote and the checkout that accepts it."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from billing.card_offer import card_is_offered, is_demo_card
from billing.offers import CryptoOffer, crypto_offers
from billing.services.checkout import CheckoutRequest, anonymous_limits, checkout
from core import clock
from core.errors import NotFound, Refusal
from core.money import amount_to_units, units_to_amount
from fleet.keys import parse_keys
from orders.contact import clean_contact
from orders.lifecycle import QuoteStatus
from orders.models import Order, Quote
from orders.selectors import quote_by_id, quote_status
from orders.services.place import PlaceRequest, QuoteAccepted
from shop import visitor
from shop.forms.checkout import CARD_VALUE, CheckoutForm, choice_value
from shop.headers import private_page
from shop.pages.quote import cards_are_taken, lines_of, saving_of, tax_included, tax_text
from shop.views.errors import shows_refusals


@require_safe
@private_page
@shows_refusals
def quote_page(request: HttpRequest, quote_id: str) -> HttpResponse:
    """The lines, until when they hold, how to verify them, and the order form while it is open."""
    quote = _quote(quote_id)
    form = CheckoutForm(initial={"replaces": request.GET.get("replaces", "")}, **_ways(quote))
    return _show(request, quote, form)


@require_safe
@private_page
@shows_refusals
def quote_document(request: HttpRequest, quote_id: str) -> HttpResponse:
    """The signed document, byte for byte."""
    quote = _quote(quote_id)
    response = HttpResponse(quote.document, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{quote.public_id}.json"'
    return response


@require_safe
@private_page
@shows_refusals
def quote_signature(request: HttpRequest, quote_id: str) -> HttpResponse:
    """The signature, as raw bytes in base64."""
    quote = _quote(quote_id)
    response = HttpResponse(quote.signature + "\n", content_type="text/plain; charset=us-ascii")
    response["Content-Disposition"] = f'attachment; filename="{quote.public_id}.sig"'
    return response


@require_POST
@private_page
@shows_refusals
def order_quote(request: HttpRequest, quote_id: str) -> HttpResponse:
    """Accept the quote. Sent twice it lands on the order that is there."""
    owner = visitor.owner_of(request) or visitor.new_owner()
    form = CheckoutForm(request.POST, request.FILES)
    if not form.is_valid():
        return _show_again(request, quote_id, form, status=400)
    try:
        order = checkout(_checkout_request(request, quote_id, form, owner))
    except QuoteAccepted as refusal:
        if refusal.order.owner == owner:
            return _to_order(refusal.order, owner)
        return _show_again(request, quote_id, form, status=409)
    except Refusal as refusal:
        form.refuse(refusal)
        return _show_again(request, quote_id, form, status=refusal.status)
    return _to_order(order, owner)


def _checkout_request(request: HttpRequest, quote_id: str, form: CheckoutForm, owner: str) -> CheckoutRequest:
    asked = form.cleaned_data
    language = get_language() or settings.LANGUAGE_CODE
    contact = clean_contact(
        name=asked["name"], email=asked["email"], company=asked["company"], language=language
    )
    place = PlaceRequest(
        quote_id=quote_id,
        owner=owner,
        prefix=visitor.client_prefix(request),
        limits=anonymous_limits(),
        contact=contact,
        bill_to=None,  # the form does not ask again
        keys=parse_keys(form.key_text()),
        terms_version=settings.TERMS_VERSION if asked["accept_terms"] else "",
        mail_to=contact.email,
        mail_language=contact.language,
        notify=Order.Notify.BUYER,
    )
    return CheckoutRequest(place=place, pay_with=form.payment_choice(), replaces=asked["replaces"] or None)


def _to_order(order: Order, owner: str) -> HttpResponse:
    response = HttpResponseRedirect(reverse("shop:order", kwargs={"token": order.token}), status=303)
    visitor.remember_owner(response, owner)
    return response


def _quote(quote_id: str) -> Quote:
    quote = quote_by_id(quote_id)
    if quote is None:
        raise NotFound(code="not_found", message=_("There is no such quote."))
    return quote


def _show(request: HttpRequest, quote: Quote, form: CheckoutForm, *, status: int = 200) -> HttpResponse:
    state = quote_status(quote)
    is_open = state == QuoteStatus.OPEN
    # Cards of an order that this one replaces are let go first: they count as taken here and are not.
    replaces = bool(form["replaces"].value())
    context: dict[str, Any] = {
        "quote": quote,
        "state": state,
        "is_open": is_open,
        "is_taken": is_open and not replaces and cards_are_taken(quote),
        "lines": lines_of(quote),
        "tax_text": tax_text(quote),
        "tax_included": tax_included(quote),
        "saving": saving_of(quote),
        "seconds_left": max(0, int((quote.expires_at - clock.now()).total_seconds())),
        "cards": quote.lots * quote.lot.cards,
        "hold_for": settings.HOLD_SECONDS,
        "ready_by_hours": settings.READY_BY_SECONDS // 3600,
        "form": form,
        "ways": [_way(offer, quote) for offer in form.offers],
        "card_value": CARD_VALUE if form.takes_card else "",
        "is_demo_card": is_demo_card(),
        "own_order": _own_order(request, quote),
        "terms_version": settings.TERMS_VERSION,
    }
    return render(request, "shop/quote.html", context, status=status)


def _show_again(request: HttpRequest, quote_id: str, form: CheckoutForm, *, status: int) -> HttpResponse:
    """The form with what is wrong. Only here the quote is read: an order that is placed reads it under its lock."""
    quote = _quote(quote_id)
    form.set_ways(**_ways(quote))
    form.keep_keys()
    return _show(request, quote, form, status=status)


def _ways(quote: Quote) -> dict[str, Any]:
    """What this quote can be paid with now."""
    return {"offers": crypto_offers(), "takes_card": card_is_offered(quote.total, quote.currency)}


def _way(offer: CryptoOffer, quote: Quote) -> dict[str, Any]:
    """A way of paying with the sum that would have to arrive."""
    price = offer.asset.price or 1
    units = amount_to_units(quote.total / price, offer.asset.decimals)
    return {
        "value": choice_value(offer),
        "network": offer.network,
        "asset": offer.asset,
        "amount": units_to_amount(units, offer.asset.decimals),
    }


def _own_order(request: HttpRequest, quote: Quote) -> Order | None:
    """The order that this browser made of the quote; to anybody else it stays unknown."""
    if quote.status != QuoteStatus.ACCEPTED:
        return None
    owner = visitor.owner_of(request)
    return Order.objects.filter(quote=quote, owner=owner).first() if owner else None
