"""What a buyer changes on a lease: who may log in, and what is to be taken away before the end."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from core import clock
from core.errors import Conflict, NotFound, Refusal
from fleet.lease_rows import lease_rows
from fleet.selectors import Member, lease_of_order
from fleet.services.export import declare
from fleet.services.members import add_keys, revoke_key, rotate_key
from orders.models import Order
from shop.forms.access import ExportForm, KeyForm, MemberForm
from shop.headers import private_page
from shop.own_order import own_order
from shop.pages.order_access import ExportPart, MembersPart, export_part, members_part
from shop.views.errors import shows_refusals

BUYER = "buyer"


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@shows_refusals
def members(request: HttpRequest, token: str) -> HttpResponse:
    """The keys of a lease; POST adds to them."""
    found = own_order(token)
    part = _members(found)
    if request.method != "POST":
        return _members_page(request, found, part, part.form)
    form = MemberForm(request.POST, request.FILES)
    if not form.is_valid():
        return _members_page(request, found, part, form, status=400)
    try:
        added = add_keys(
            order_ref=found.public_id,
            text=form.key_text(),
            member=form.cleaned_data["member"],
            actor=BUYER,
        )
    except Refusal as refusal:
        form.refuse(refusal)
        return _members_page(request, found, part, form, status=refusal.status)
    said = ngettext(
        "The key %(fingerprints)s was added. It works from the next login on.",
        "The keys %(fingerprints)s were added. They work from the next login on.",
        len(added),
    ) % {"fingerprints": ", ".join(key.fingerprint for key in added)}
    return _back(request, found, said)


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@shows_refusals
def member(request: HttpRequest, token: str, key_id: int) -> HttpResponse:
    """One key: replace it (POST) or, from a form of its own, remove it."""
    found = own_order(token)
    part = _members(found)
    key = _member(part, key_id)
    if request.method != "POST":
        return _member_page(request, found, part, key, KeyForm())
    form = KeyForm(request.POST, request.FILES)
    if not form.is_valid():
        return _member_page(request, found, part, key, form, status=400)
    try:
        new = rotate_key(order_ref=found.public_id, key_id=key_id, text=form.key_text(), actor=BUYER)
    except Refusal as refusal:
        form.refuse(refusal)
        return _member_page(request, found, part, key, form, status=refusal.status)
    said = _(
        "The key %(old)s was replaced by %(new)s. Open sessions of the old one are closed within seconds."
    ) % {"old": key.fingerprint, "new": new.fingerprint}
    return _back(request, found, said)


@require_POST
@private_page
@shows_refusals
def remove_member(request: HttpRequest, token: str, key_id: int) -> HttpResponse:
    """Take a key out; its page has asked before."""
    found = own_order(token)
    try:
        key = revoke_key(order_ref=found.public_id, key_id=key_id, actor=BUYER)
    except Conflict as refusal:
        messages.warning(request, refusal.text)
        return HttpResponseRedirect(_address(found), status=303)
    said = _("The key %(fingerprint)s was removed. Its open sessions are closed within seconds.") % {
        "fingerprint": key.fingerprint
    }
    return _back(request, found, said)


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@shows_refusals
def export(request: HttpRequest, token: str) -> HttpResponse:
    """Size and rate of what is taken away, from which the last safe start follows."""
    found = own_order(token)
    part = export_part(found, lease_of_order(found.public_id), clock.now())
    if part is None:
        raise _no_lease(found)
    if request.method != "POST":
        return _export_page(request, found, part, part.form)
    form = ExportForm(request.POST)
    if not form.is_valid():
        return _export_page(request, found, part, form, status=400)
    try:
        declare(order_ref=found.public_id, size_bytes=form.size_bytes(), rate_bytes_s=form.rate_bytes_s())
    except Refusal as refusal:
        form.refuse(refusal)
        return _export_page(request, found, part, form, status=refusal.status)
    return _back(request, found, _("Noted. The last safe start is on this page."), anchor="export")


def _members(found: Order) -> MembersPart:
    rows = lease_rows(found.public_id)
    part = members_part(rows, clock.now()) if rows is not None else None
    if part is None:
        raise _no_lease(found)
    return part


def _member(part: MembersPart, key_id: int) -> Member:
    for one in part.members:
        if one.key_id == key_id:
            return one
    raise NotFound(code="not_found", message=_("There is no such key on this lease."))


def _no_lease(found: Order) -> Refusal:
    if lease_of_order(found.public_id) is None:
        return Conflict(
            code="not_ready", message=_("This is possible once the payment of the order is final.")
        )
    return Conflict(code="lease_over", message=_("This lease is over."))


def _members_page(
    request: HttpRequest, found: Order, part: MembersPart, form: MemberForm, *, status: int = 200
) -> HttpResponse:
    if form.is_bound:
        form.keep_keys()
    context = {"order": found, "part": part, "form": form}
    return render(request, "shop/order_members.html", context, status=status)


def _member_page(
    request: HttpRequest, found: Order, part: MembersPart, key: Member, form: KeyForm, *, status: int = 200
) -> HttpResponse:
    if form.is_bound:
        form.keep_keys()
    context = {"order": found, "part": part, "member": key, "form": form}
    return render(request, "shop/order_member.html", context, status=status)


def _export_page(
    request: HttpRequest, found: Order, part: ExportPart, form: ExportForm, *, status: int = 200
) -> HttpResponse:
    context = {"order": found, "part": part, "form": form}
    return render(request, "shop/order_export.html", context, status=status)


def _address(found: Order, anchor: str = "members") -> str:
    return f"{reverse('shop:order', kwargs={'token': found.token})}#{anchor}"


def _back(request: HttpRequest, found: Order, said: str, *, anchor: str = "members") -> HttpResponse:
    messages.success(request, said)
    return HttpResponseRedirect(_address(found, anchor), status=303)
