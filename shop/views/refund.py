"""Where a refund goes, in two steps; and the choice that late money leaves: the lot that is kept, or the refund."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from billing.models import Rail, Refund
from billing.services.offer_again import accept_offer, take_refund
from billing.services.refund_destination import CHANGEABLE, check_destination, confirm_destination
from core.errors import NotFound, Refusal
from orders.models import Order
from shop.forms.refund import DestinationForm
from shop.forms.refused import show_refusal
from shop.headers import private_page
from shop.own_order import own_order
from shop.pages.order_money import refund_line
from shop.views.errors import shows_refusals


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@shows_refusals
def destination(request: HttpRequest, token: str, refund_id: int) -> HttpResponse:
    """Enter an address; it is shown back with its checksum before anything counts."""
    found = own_order(token)
    row = _refund(found, refund_id)
    form = DestinationForm(request.POST if request.method == "POST" else None, label_suffix="")
    if request.method != "POST":
        return _page(request, found, row, form)
    if not form.is_valid():
        return _page(request, found, row, form, status=400)
    try:
        address = check_destination(form.cleaned_data["destination"])
        if request.POST.get("step") != "confirm":
            return _page(request, found, row, form, address=address)
        confirm_destination(order_id=found.public_id, refund_id=row.pk, destination=address)
    except Refusal as refusal:
        show_refusal(form, refusal, fields={"destination": "destination"})
        return _page(request, found, row, form, status=refusal.status)
    said = _("Thank you. Your refund goes to %(address)s; you may change it until it is sent.")
    return _back(request, found, said % {"address": address})


@require_POST
@private_page
@shows_refusals
def take_lot(request: HttpRequest, token: str) -> HttpResponse:
    """Late money: start the lease on the lot that is kept."""
    return _act(
        request,
        token,
        lambda found: accept_offer(order_id=found.public_id),
        _("Thank you. Your cards are prepared now."),
    )


@require_POST
@private_page
@shows_refusals
def take_money(request: HttpRequest, token: str) -> HttpResponse:
    """Late money, or no lot: take the refund."""
    return _act(
        request,
        token,
        lambda found: take_refund(order_id=found.public_id),
        _("All of your money is due back to you. See below where it should go."),
    )


def _act(request: HttpRequest, token: str, act: Callable[[Order], object], said: str) -> HttpResponse:
    found = own_order(token)
    try:
        act(found)
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        # The page shows what has become of it.
        messages.warning(request, refusal.text)
        return HttpResponseRedirect(_url(found), status=303)
    return _back(request, found, said)


def _page(
    request: HttpRequest,
    found: Order,
    row: Refund,
    form: DestinationForm,
    *,
    address: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {"order": found, "refund": refund_line(row), "form": form, "address": address}
    return render(request, "shop/refund.html", context, status=status)


def _refund(found: Order, refund_id: int) -> Refund:
    row = Refund.objects.filter(pk=refund_id, order=found, rail=Rail.CRYPTO, status__in=CHANGEABLE).first()
    if row is None:
        raise NotFound(code="not_found", message=_("There is no such refund."))
    return row


def _back(request: HttpRequest, found: Order, said: str) -> HttpResponse:
    messages.success(request, said)
    return HttpResponseRedirect(_url(found), status=303)


def _url(found: Order) -> str:
    return reverse("shop:order", kwargs={"token": found.token})
