"""API keys on the member's page. A key's text is shown on the answer that made it, and nowhere else."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_http_methods, require_POST

from core import clock
from core.errors import NotFound, Refusal
from partners.forms.keys import KeyForm, RotateForm
from partners.key_selectors import key_of
from partners.models import ApiKey, Member
from partners.pages.keys import key_row
from partners.services.make_key import make_key
from partners.services.revoke_key import revoke_key
from partners.services.rotate_key import rotate_key
from partners.views.private import actor_of, for_members


@require_http_methods(["GET", "HEAD", "POST"])
@for_members
def new_key(request: HttpRequest, member: Member) -> HttpResponse:
    if request.method != "POST":
        return _form_page(request, KeyForm())
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _form_page(request, form, status=400)
    try:
        _key, text = make_key(partner_id=member.partner_id, actor=actor_of(member), **form.values())
    except Refusal as refusal:
        form.refuse(refusal)
        return _form_page(request, form, status=refusal.status)
    return _shown_once(request, text)


@require_http_methods(["GET", "HEAD"])
@for_members
def key(request: HttpRequest, member: Member, key_id: int) -> HttpResponse:
    """One key: rotate or revoke it."""
    return _key_page(request, _own(member, key_id), RotateForm())


@require_POST
@for_members
def rotate(request: HttpRequest, member: Member, key_id: int) -> HttpResponse:
    found, form = _own(member, key_id), RotateForm(request.POST)
    if not form.is_valid():
        return _key_page(request, found, form, status=400)
    try:
        _new, text = rotate_key(key_id=found.pk, actor=actor_of(member), **form.cleaned_data)
    except Refusal as refusal:
        form.refuse(refusal)
        return _key_page(request, found, form, status=refusal.status)
    return _shown_once(request, text)


@require_POST
@for_members
def revoke(request: HttpRequest, member: Member, key_id: int) -> HttpResponse:
    """At once and for good; its page has said so before."""
    found = _own(member, key_id)
    try:
        revoke_key(key_id=found.pk, actor=actor_of(member), reason="")
    except Refusal as refusal:
        messages.warning(request, refusal.text)
    else:
        messages.success(request, _("The key %(key)s is revoked.") % {"key": found})
    return HttpResponseRedirect(reverse("partners:home"), status=303)


def _own(member: Member, key_id: int) -> ApiKey:
    found = key_of(member.partner, key_id)
    if found is None:
        raise NotFound(code="not_found", message=_("There is no such key."))
    return found


def _form_page(request: HttpRequest, form: KeyForm, *, status: int = 200) -> HttpResponse:
    return render(request, "partners/key_new.html", {"form": form}, status=status)


def _key_page(request: HttpRequest, found: ApiKey, form: RotateForm, *, status: int = 200) -> HttpResponse:
    row = key_row(found, clock.now())
    return render(request, "partners/key.html", {"row": row, "form": form}, status=status)


def _shown_once(request: HttpRequest, text: str) -> HttpResponse:
    context = {
        "heading": _("Your new API key"),
        "what": _("API key"),
        "copy_word": pgettext("to copy", "API key"),
        "text": text,
        "back": reverse("partners:home"),
    }
    return render(request, "partners/shown_once.html", context)
