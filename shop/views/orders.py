"""The one page of an order in all its states, its live part, and what a buyer can do on it."""

import uuid
from collections.abc import Callable

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import parse_etags
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from billing.models import ChainState
from billing.order_rows import news_of, page_of
from billing.services.claim import claim
from billing.services.demo_pay import request_demo_transfer
from billing.services.look_at_card import look_at_card
from core import clock
from core.decisions import count_open, open_decision
from core.errors import Refusal, TooMany
from core.formats import amount_text
from core.log_context import about
from core.text import clean_block
from orders.models import Order
from orders.services.cancel import cancel
from shop.forms.order import ClaimForm, ProblemForm
from shop.forms.refused import show_refusal
from shop.headers import private_page
from shop.own_order import no_order, own_order
from shop.pages.live import live_part as live_of
from shop.pages.order import order_page
from shop.views.errors import shows_refusals

# Reports of one order that wait for an answer at a time.
_OPEN_REPORTS = 5
_PROBLEM_LENGTH = 4000


@require_safe
@private_page
@shows_refusals
@clock.offset_read_once()
def order(request: HttpRequest, token: str) -> HttpResponse:
    """Payment, progress, access or what ended it: what the order's state asks for."""
    if request.GET.get("card") == "back":
        look_at_card(own_order(token))
    return _show(request, token, ClaimForm(label_suffix=""))


@require_safe
@private_page
@shows_refusals
@clock.offset_read_once()
def live_part(request: HttpRequest, token: str) -> HttpResponse:
    """The part that is fetched every few seconds, in one query. Where more has changed the whole page is loaded anew;
    where nothing has, nothing is drawn."""
    rows = news_of(token)
    if rows is None:
        raise no_order()
    about(order=rows.order.public_id)
    live = live_of(rows, rows.lease)
    is_whole = request.GET.get("mark") == live.mark
    response: HttpResponse
    if is_whole and live.etag in parse_etags(request.headers.get("If-None-Match", "")):
        response = HttpResponseNotModified()
    else:
        response = render(request, "shop/parts/live.html", {"live": live})
    if not is_whole:
        response["HX-Refresh"] = "true"
    response["ETag"] = live.etag
    response["Cache-Control"] = "private, no-cache"
    return response


@require_POST
@private_page
@shows_refusals
def claim_payment(request: HttpRequest, token: str) -> HttpResponse:
    """ "I have paid": starts a check and is never more than a hint."""
    found = own_order(token)
    form = ClaimForm(request.POST, label_suffix="")
    if not form.is_valid():
        return _show(request, token, form, status=400)
    try:
        view = claim(
            order_id=found.public_id, by="page", transaction_hash=form.cleaned_data["transaction_hash"]
        )
    except TooMany as refusal:
        # Not an error of the buyer: the page says when the next look is possible.
        messages.info(request, refusal.text)
        response = _show(request, token, form, status=refusal.status)
        response["Retry-After"] = str(refusal.retry_after_seconds or 10)
        return response
    except Refusal as refusal:
        show_refusal(form, refusal, fields={"transaction_hash": "transaction_hash"})
        return _show(request, token, form, status=refusal.status)
    head = (
        ChainState.objects.filter(network=view.payment.network).values_list("head_number", flat=True).first()
    )
    if view.received_units:
        said = _("Thank you. We look again now; you may close this page.")
    elif head is None:
        said = _("Thank you. We look now and every few seconds; you may close this page.")
    else:
        said = _(
            "Thank you. We looked at block %(block)s: nothing yet. "
            "We look again every few seconds; you may close this page."
        ) % {"block": amount_text(head, places=0)}
    return _back(request, found, said)


@require_POST
@private_page
@shows_refusals
def cancel_order(request: HttpRequest, token: str) -> HttpResponse:
    """Cancel before the start of the term."""

    def act(found: Order) -> str:
        with transaction.atomic():
            cancel(order_id=found.public_id, actor="buyer")
        return _("The order is cancelled.")

    return _act(request, token, act)


@require_POST
@private_page
@shows_refusals
def demo_pay(request: HttpRequest, token: str) -> HttpResponse:
    """Demo only: let a worker pay from the demo wallet."""

    def act(found: Order) -> str:
        request_demo_transfer(order_id=found.public_id)
        return _(
            "The demo wallet sends the transfer now. Press “I have paid”, or wait: we look by ourselves."
        )

    return _act(request, token, act)


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@shows_refusals
def problem(request: HttpRequest, token: str) -> HttpResponse:
    """Tell staff what is wrong: a decision row with the buyer's words."""
    found = own_order(token)
    if count_open(kind="problem_reported", order_ref=found.public_id) >= _OPEN_REPORTS:
        raise TooMany(
            code="rate_limited",
            message=_("Your reports are being read. You can write again when they are answered."),
        )
    if request.method != "POST":
        return render(request, "shop/problem.html", {"order": found, "form": ProblemForm(label_suffix="")})
    form = ProblemForm(request.POST, label_suffix="")
    if form.is_valid():
        try:
            text = clean_block(
                form.cleaned_data["text"], field="text", max_length=_PROBLEM_LENGTH, required=True
            )
        except Refusal as refusal:
            show_refusal(form, refusal, fields={"text": "text"})
        else:
            open_decision(
                kind="problem_reported",
                # Each report is a decision of its own: a second one must not take the place of the first.
                subject=f"report:{uuid.uuid4().hex}",
                order_ref=found.public_id,
                facts={"text": text, "order_status": found.status},
            )
            said = _("Thank you. A person reads it; the answer goes to the e-mail address of the order.")
            return _back(request, found, said)
    return render(request, "shop/problem.html", {"order": found, "form": form}, status=400)


def _act(request: HttpRequest, token: str, act: Callable[[Order], str]) -> HttpResponse:
    """Do it and go back to the page; a refusal is said there too."""
    found = own_order(token)
    try:
        return _back(request, found, act(found))
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        messages.warning(request, refusal.text)
        return _show(request, token, ClaimForm(label_suffix=""), status=refusal.status)


def _back(request: HttpRequest, found: Order, said: str) -> HttpResponse:
    messages.success(request, said)
    return HttpResponseRedirect(reverse("shop:order", kwargs={"token": found.token}), status=303)


def _show(request: HttpRequest, token: str, form: ClaimForm, *, status: int = 200) -> HttpResponse:
    rows = page_of(token)
    if rows is None:
        raise no_order()
    about(order=rows.order.public_id)
    context = {"page": order_page(rows), "order": rows.order, "form": form}
    return render(request, "shop/order.html", context, status=status)
