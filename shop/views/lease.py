"""What a buyer can do with his term: make it longer, end it early, or give up a delivery that is late."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from billing.early_end_amount import EarlyEnd
from billing.services.checkout import anonymous_limits
from billing.services.early_end import early_end, early_end_preview
from billing.services.extend import ExtendRequest, extend
from core.errors import Refusal
from core.formats import amount_text
from fleet.services.give_up import give_up_late
from orders.models import Order
from orders.services.extend import ExtensionOpen
from shop import visitor
from shop.forms.extension import EndEarlyForm, ExtendForm
from shop.headers import private_page
from shop.own_order import own_order
from shop.views.errors import shows_refusals


@require_POST
@private_page
@shows_refusals
def extend_order(request: HttpRequest, token: str) -> HttpResponse:
    """Order more time. Sent twice, or while another extension waits for its payment, it lands on the one there is."""
    found = own_order(token)
    form = ExtendForm(request.POST)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.warning(request, str(errors[0]))
        return _to(found)
    try:
        order = extend(
            ExtendRequest(
                order_id=found.public_id,
                days=form.cleaned_data["days"],
                pay_with=form.payment_choice(),
                prefix=visitor.client_prefix(request),
                limits=anonymous_limits(),
            )
        )
    except ExtensionOpen as refusal:
        messages.warning(request, refusal.text)
        return _to(refusal.order)
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        messages.warning(request, refusal.text)
        return _to(found)
    return _to(order)


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@shows_refusals
def end_order_early(request: HttpRequest, token: str) -> HttpResponse:
    """Say what is lost and what comes back, ask once, then end."""
    found = own_order(token)
    form = EndEarlyForm(request.POST if request.method == "POST" else None, label_suffix="")
    if request.method != "POST" or not form.is_valid():
        context = {"order": found, "form": form, "end": early_end_preview(found)}
        return render(request, "shop/end_early.html", context, status=400 if form.is_bound else 200)
    try:
        end = early_end(order_id=found.public_id, actor="buyer")
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        messages.warning(request, refusal.text)
    else:
        messages.success(request, _ended_text(end))
    return _to(found)


@require_POST
@private_page
@shows_refusals
def give_up(request: HttpRequest, token: str) -> HttpResponse:
    """Take the full refund of a late delivery instead of waiting on."""
    found = own_order(token)
    try:
        give_up_late(order_ref=found.public_id, actor="buyer")
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        messages.warning(request, refusal.text)
    else:
        messages.success(request, _("The delivery is stopped and all that you paid is due back to you."))
    return _to(found)


def _ended_text(end: EarlyEnd) -> str:
    if not end.unused_days:
        return _(
            "Access is closed and the disks are being wiped. No whole day was left, so nothing comes back."
        )
    return ngettext(
        "Access is closed and the disks are being wiped. For %(days)d unused day, %(amount)s %(currency)s come back.",
        "Access is closed and the disks are being wiped. For %(days)d unused days, %(amount)s %(currency)s come back.",
        end.unused_days,
    ) % {"days": end.unused_days, "amount": amount_text(end.amount), "currency": end.currency}


def _to(order: Order) -> HttpResponse:
    return HttpResponseRedirect(reverse("shop:order", kwargs={"token": order.token}), status=303)
