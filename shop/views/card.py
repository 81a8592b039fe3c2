"""Paying by bank card: ask for the processor's page, and the demo's own page with test cards."""

from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.http import require_http_methods, require_POST

from billing.services.demo_card import DemoSession, demo_session, use_demo_card
from billing.services.want_card_session import want_card_session
from core.errors import Refusal
from shop.headers import private_page
from shop.own_order import own_order
from shop.views.errors import shows_refusals


@require_POST
@private_page
@shows_refusals
def start_card(request: HttpRequest, token: str) -> HttpResponse:
    """Ask for a payment page; a worker opens it. Sent twice it is the same page, unless a new one is asked for."""
    order = own_order(token)
    try:
        want_card_session(
            order_id=order.public_id,
            language=get_language() or settings.LANGUAGE_CODE,
            anew=request.POST.get("anew") == "1",
        )
    except Refusal as refusal:
        messages.warning(request, refusal.text)
    return HttpResponseRedirect(reverse("shop:order", kwargs={"token": order.token}), status=303)


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@shows_refusals
def demo_card(request: HttpRequest, session_id: str) -> HttpResponse:
    """Demo only: the stand-in for the processor's page, with cards that are paid, declined or delayed."""
    if request.method != "POST":
        return _show(request, _demo_session(session_id))
    _demo_session(session_id)
    choice = request.POST.get("choice", "")
    if choice == "close":
        return _leave(_demo_session(session_id))
    try:
        session = use_demo_card(session_id, choice=choice)
    except Refusal as refusal:
        messages.warning(request, refusal.text)
        return _show(request, _demo_session(session_id), status=refusal.status)
    if session.is_open:
        return HttpResponseRedirect(request.path, status=303)
    return _leave(session)


def _demo_session(session_id: str) -> DemoSession:
    """Outside the demo there is no such page, whatever the address."""
    try:
        return demo_session(session_id)
    except Refusal as refusal:
        raise Http404 from refusal


def _show(request: HttpRequest, session: DemoSession, *, status: int = 200) -> HttpResponse:
    return render(request, "shop/demo_card.html", {"session": session}, status=status)


def _leave(session: DemoSession) -> HttpResponse:
    """Back to the shop, by path: never to another host."""
    parts = urlsplit(session.return_url)
    return HttpResponseRedirect(f"{parts.path}?{parts.query}", status=303)
