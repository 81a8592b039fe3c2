"""Logging in by a mailed link, and out. A GET never uses a link: programs that look at mail follow links too."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from core.client_address import client_address, network_prefix
from partners import session
from partners.forms.login import LoginForm
from partners.services.log_in import LINK_VALID, ask_for_link, log_in, usable_link
from partners.views.private import private


@require_http_methods(["GET", "HEAD", "POST"])
@private
def login(request: HttpRequest) -> HttpResponse:
    """Ask for a link. The answer is the same whether anybody has this address."""
    if request.method != "POST":
        return _login_page(request, LoginForm())
    form = LoginForm(request.POST)
    if not form.is_valid():
        return _login_page(request, form, status=400)
    ask_for_link(mail=form.cleaned_data["mail"], network=network_prefix(client_address(request)))
    return HttpResponseRedirect(reverse("partners:login_sent"), status=303)


@require_http_methods(["GET", "HEAD"])
@private
def login_sent(request: HttpRequest) -> HttpResponse:
    minutes = int(LINK_VALID.total_seconds() // 60)
    return render(request, "partners/login_sent.html", {"minutes": minutes})


@require_http_methods(["GET", "HEAD", "POST"])
@private
def login_link(request: HttpRequest, text: str) -> HttpResponse:
    """The mailed link: GET shows a button, POST uses the link up."""
    if request.method != "POST":
        usable = usable_link(text)
        return render(
            request,
            "partners/login_link.html",
            {"text": text, "usable": usable},
            status=200 if usable else 410,
        )
    member = log_in(text)
    session.begin(request, member)
    return HttpResponseRedirect(reverse("partners:home"), status=303)


@require_POST
@private
def log_out(request: HttpRequest) -> HttpResponse:
    session.end(request)
    messages.success(request, _("You are logged out."))
    return HttpResponseRedirect(reverse("partners:login"), status=303)


def _login_page(request: HttpRequest, form: LoginForm, *, status: int = 200) -> HttpResponse:
    return render(request, "partners/login.html", {"form": form}, status=status)
