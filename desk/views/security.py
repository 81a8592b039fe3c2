"""Where somebody is signed in, and with what: sessions to end, a device to replace, recovery codes to renew."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from core import staff_sessions
from core.errors import Refusal
from core.models import StaffSession
from core.services import second_factor
from desk.half_way import half_way_page, network_of, with_status
from desk.page import desk_page
from desk.security_forms import CodeForm
from desk.views.second_factor import begin

SEES_ALL, ENDS_ALL = "core.view_staffsession", "core.change_staffsession"


@require_safe
@desk_page()
def security(request: HttpRequest) -> HttpResponse:
    return _page(request)


@require_POST
@desk_page()
def end_session(request: HttpRequest) -> HttpResponse:
    """End one session, or all others of one's own. Somebody else's only with the permission, else 404."""
    if "others" in request.POST:
        number = staff_sessions.end_others(request)
        text = ngettext("%(number)d session was ended.", "%(number)d sessions were ended.", number)
        messages.success(request, text % {"number": number})
        return _back()
    row = _row(request)
    if row == staff_sessions.current(request):
        return admin.site.logout(request)
    if staff_sessions.end_one(row, actor=_user(request).get_username()):
        messages.success(request, _("The session was ended."))
    else:
        messages.warning(request, _("This session is over already."))
    return _back()


@require_POST
@sensitive_post_parameters("code")
@desk_page()
def new_codes(request: HttpRequest) -> HttpResponse:
    form = CodeForm(request.POST)
    if not form.is_valid():
        return _page(request, codes_form=form)
    try:
        codes = second_factor.new_recovery_codes(
            user=_user(request), code=form.cleaned_data["code"], network=network_of(request)
        )
    except Refusal as refusal:
        form.refuse(refusal)
        return with_status(_page(request, codes_form=form), refusal)
    return render(
        request, "desk/security_codes.html", {"codes": "\n".join(codes), "next": reverse("desk:security")}
    )


@require_POST
@sensitive_post_parameters("code")
@desk_page()
def new_device(request: HttpRequest) -> HttpResponse:
    """Begin to set up another device, for who shows a code of the present one or of its recovery codes."""
    form = CodeForm(request.POST)
    if not form.is_valid():
        return _page(request, device_form=form)
    try:
        second_factor.show(user=_user(request), code=form.cleaned_data["code"], network=network_of(request))
    except Refusal as refusal:
        form.refuse(refusal)
        return with_status(_page(request, device_form=form), refusal)
    begin(request, _user(request))
    return HttpResponseRedirect(
        f"{reverse('desk:set_up_factor')}?next={reverse('desk:security')}", status=303
    )


@require_POST
@half_way_page
def sign_out(request: HttpRequest, user: User) -> HttpResponse:
    return admin.site.logout(request)


def _page(
    request: HttpRequest, *, codes_form: CodeForm | None = None, device_form: CodeForm | None = None
) -> HttpResponse:
    user = _user(request)
    rows = staff_sessions.living() if user.has_perm(SEES_ALL) else staff_sessions.living(user)
    sessions: list[StaffSession] = list(rows[:500])
    device = second_factor.device_of(user)
    context: dict[str, Any] = {
        "own": [row for row in sessions if row.user_id == user.pk],
        "others": [row for row in sessions if row.user_id != user.pk],
        "sees_all": user.has_perm(SEES_ALL),
        "ends_all": user.has_perm(ENDS_ALL),
        "here": staff_sessions.current(request),
        "device": device,
        "codes_left": second_factor.codes_left(user) if device else 0,
        "codes_form": codes_form or CodeForm(auto_id="codes_%s"),
        "device_form": device_form or CodeForm(auto_id="device_%s"),
    }
    return render(request, "desk/security.html", context)


def _row(request: HttpRequest) -> StaffSession:
    number = request.POST.get("session", "")
    found = StaffSession.objects.select_related("user").filter(pk=number) if _is_number(number) else None
    row = found.first() if found is not None else None
    user = _user(request)
    if row is None or (row.user_id != user.pk and not user.has_perm(ENDS_ALL)):
        raise Http404
    return row


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 18


def _user(request: HttpRequest) -> User:
    user = request.user
    assert isinstance(user, User)  # noqa: S101  # for the types: desk_page lets nobody else in
    return user


def _back() -> HttpResponse:
    return HttpResponseRedirect(reverse("desk:security"), status=303)
