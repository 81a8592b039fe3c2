"""The second factor at the login: shown each time, set up once."""

from base64 import b32encode
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from django_otp.plugins.otp_totp.models import TOTPDevice

from core import staff_sessions
from core.errors import Refusal
from core.own_path import own_path
from core.qr import qr_path
from core.services import second_factor
from desk.half_way import half_way_page, network_of, with_status
from desk.security_forms import CodeForm

# Which secret this session is setting up: nobody else's page shows it or confirms it.
PENDING = "desk.second_factor"
FEW_CODES = 3


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("code")
@half_way_page
def code(request: HttpRequest, user: User) -> HttpResponse:
    """Ask for a code; a right one opens the session."""
    target = _target(request)
    if not staff_sessions.owes_factor(request):
        return HttpResponseRedirect(target, status=303)
    if second_factor.device_of(user) is None:
        return HttpResponseRedirect(_set_up_address(target), status=303)
    form = CodeForm(request.POST if request.method == "POST" else None, is_alone=True)
    refusal = None
    if form.is_bound and form.is_valid():
        try:
            shown = second_factor.show(user=user, code=form.cleaned_data["code"], network=network_of(request))
        except Refusal as refused:
            refusal = refused
            form.refuse(refused)
        else:
            staff_sessions.verify(request)
            _warn(request, shown)
            return HttpResponseRedirect(target, status=303)
    return with_status(render(request, "desk/security_code.html", {"form": form, "next": target}), refusal)


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("code")
@half_way_page
def set_up(request: HttpRequest, user: User) -> HttpResponse:
    """Begin with a button, show the secret, confirm one code of it, show the recovery codes once."""
    target = _target(request)
    device = second_factor.pending(user=user, number=request.session.get(PENDING))
    if device is None or not _may_set_up(request, user):
        return _begin(request, user, target)
    form = CodeForm(request.POST if request.method == "POST" else None, is_alone=True)
    refusal = None
    if form.is_bound and form.is_valid():
        try:
            codes = second_factor.confirm(
                user=user, number=device.pk, code=form.cleaned_data["code"], network=network_of(request)
            )
        except Refusal as refused:
            refusal = refused
            form.refuse(refused)
        else:
            request.session.pop(PENDING, None)
            staff_sessions.end_others(request, reason="second factor set up")
            staff_sessions.verify(request)
            return render(request, "desk/security_codes.html", {"codes": "\n".join(codes), "next": target})
    return with_status(
        render(request, "desk/security_set_up.html", {"form": form, "next": target} | _secret(device)),
        refusal,
    )


def _may_set_up(request: HttpRequest, user: User) -> bool:
    """A set-up that was left half done outlives its session in the browser: it must not stand in for the code that the
    next session owes."""
    return staff_sessions.is_let_in(request) or second_factor.device_of(user) is None


def begin(request: HttpRequest, user: User) -> None:
    """A new secret for this session."""
    request.session[PENDING] = second_factor.begin_set_up(user).pk


def _begin(request: HttpRequest, user: User, target: str) -> HttpResponse:
    """Who has a device already comes here with a code of it only (desk.views.security)."""
    if second_factor.device_of(user) is not None:
        return HttpResponseRedirect(
            f"{reverse('desk:second_factor')}?{urlencode({'next': target})}", status=303
        )
    if request.method == "POST":
        begin(request, user)
        return HttpResponseRedirect(_set_up_address(target), status=303)
    return render(request, "desk/security_begin.html", {"next": target})


def _target(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    return own_path(wanted, otherwise=reverse("admin:index"))


def _set_up_address(target: str) -> str:
    return f"{reverse('desk:set_up_factor')}?{urlencode({'next': target})}"


def _secret(device: TOTPDevice) -> dict[str, Any]:
    path, side = qr_path(device.config_url)
    text = b32encode(device.bin_key).decode()
    groups = [text[at : at + 4] for at in range(0, len(text), 4)]
    return {"qr": path, "qr_size": side, "secret": " ".join(groups), "config_url": device.config_url}


def _warn(request: HttpRequest, shown: second_factor.Shown) -> None:
    if shown.was_recovery or shown.codes_left < FEW_CODES:
        text = ngettext(
            "%(number)d recovery code is left. Make new ones on the page of your sessions.",
            "%(number)d recovery codes are left. Make new ones on the page of your sessions.",
            shown.codes_left,
        )
        messages.warning(request, text % {"number": shown.codes_left})
