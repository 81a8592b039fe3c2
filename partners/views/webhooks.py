"""Webhook endpoints on the member's page: the same services as the API's calls."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_http_methods, require_POST

from core.errors import Conflict, NotFound, Refusal
from partners.forms.endpoints import EndpointForm
from partners.models import Member, WebhookEndpoint
from partners.pages.webhooks import delivery_rows, endpoint_row
from partners.services.change_endpoint import (
    add_endpoint,
    change_endpoint,
    checked_url,
    delete_endpoint,
    rotate_secret,
)
from partners.services.pause_endpoint import pause_endpoint, resume_endpoint
from partners.services.redeliver import redeliver, redeliver_missed
from partners.services.send_test_event import send_test_event
from partners.views.private import actor_of, for_members
from partners.webhook_selectors import delivery_of, endpoint_of


@require_http_methods(["GET", "HEAD", "POST"])
@for_members
def new_endpoint(request: HttpRequest, member: Member) -> HttpResponse:
    if request.method != "POST":
        return _new_page(request, EndpointForm())
    form = EndpointForm(request.POST)
    if not form.is_valid():
        return _new_page(request, form, status=400)
    try:
        values = form.cleaned_data | {"url": checked_url(form.cleaned_data["url"])}
        made = add_endpoint(partner_id=member.partner_id, actor=actor_of(member), **values)
    except Refusal as refusal:
        form.refuse(refusal)
        return _new_page(request, form, status=refusal.status)
    return _shown_once(request, made)


@require_http_methods(["GET", "HEAD", "POST"])
@for_members
def endpoint(request: HttpRequest, member: Member, endpoint_id: str) -> HttpResponse:
    """One endpoint with its log; POST changes it."""
    found = _own(member, endpoint_id)
    if request.method != "POST":
        return _page(request, found, EndpointForm(endpoint=found))
    form = EndpointForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form, status=400)
    try:
        values = form.cleaned_data | {"url": checked_url(form.cleaned_data["url"])}
        change_endpoint(endpoint_id=found.pk, actor=actor_of(member), **values)
    except Refusal as refusal:
        form.refuse(refusal)
        return _page(request, found, form, status=refusal.status)
    return _back(request, found, _("The endpoint was changed."))


@require_POST
@for_members
def rotate(request: HttpRequest, member: Member, endpoint_id: str) -> HttpResponse:
    found = _own(member, endpoint_id)
    return _shown_once(request, rotate_secret(endpoint_id=found.pk, actor=actor_of(member)))


@require_POST
@for_members
def pause(request: HttpRequest, member: Member, endpoint_id: str) -> HttpResponse:
    found = _own(member, endpoint_id)

    def act() -> str:
        pause_endpoint(endpoint_id=found.pk, actor=actor_of(member))
        return _("The endpoint is paused. Nothing is sent to it.")

    return _act(request, found, act)


@require_POST
@for_members
def resume(request: HttpRequest, member: Member, endpoint_id: str) -> HttpResponse:
    found = _own(member, endpoint_id)

    def act() -> str:
        resume_endpoint(endpoint_id=found.pk, actor=actor_of(member))
        return _("The endpoint is active again. What was missed is sent when you ask for it.")

    return _act(request, found, act)


@require_POST
@for_members
def send_test(request: HttpRequest, member: Member, endpoint_id: str) -> HttpResponse:
    found = _own(member, endpoint_id)

    def act() -> str:
        send_test_event(endpoint_id=found.pk, actor=actor_of(member))
        return _("A test event is on its way. The log says in a moment what came of it.")

    return _act(request, found, act)


@require_POST
@for_members
def redeliver_one(request: HttpRequest, member: Member, endpoint_id: str, delivery_id: str) -> HttpResponse:
    found = _own(member, endpoint_id)
    row = delivery_of(found, delivery_id)
    if row is None:
        raise NotFound(code="not_found", message=_("There is no such delivery."))

    def act() -> str:
        redeliver(delivery_id=row.pk, actor=actor_of(member))
        return _("The event %(event)s is sent again.") % {"event": row.message_id}

    return _act(request, found, act)


@require_POST
@for_members
def redeliver_all(request: HttpRequest, member: Member, endpoint_id: str) -> HttpResponse:
    found = _own(member, endpoint_id)

    def act() -> str:
        count = redeliver_missed(endpoint_id=found.pk, actor=actor_of(member))
        sentence = ngettext("%(count)s event is sent again.", "%(count)s events are sent again.", count)
        return sentence % {"count": count}

    return _act(request, found, act)


@require_POST
@for_members
def delete(request: HttpRequest, member: Member, endpoint_id: str) -> HttpResponse:
    found = _own(member, endpoint_id)
    delete_endpoint(endpoint_id=found.pk, actor=actor_of(member))
    messages.success(request, _("The endpoint was deleted."))
    return HttpResponseRedirect(reverse("partners:home"), status=303)


def _own(member: Member, endpoint_id: str) -> WebhookEndpoint:
    found = endpoint_of(member.partner, endpoint_id)
    if found is None:
        raise NotFound(code="not_found", message=_("There is no such webhook endpoint."))
    return found


def _act(request: HttpRequest, found: WebhookEndpoint, act: Callable[[], str]) -> HttpResponse:
    """A button: what it has done, or why not, stands on the page that it leads back to."""
    try:
        said = act()
    except Conflict as refusal:
        messages.warning(request, refusal.text)
        return HttpResponseRedirect(_address(found), status=303)
    return _back(request, found, said)


def _back(request: HttpRequest, found: WebhookEndpoint, said: str) -> HttpResponse:
    messages.success(request, said)
    return HttpResponseRedirect(_address(found), status=303)


def _address(found: WebhookEndpoint) -> str:
    return reverse("partners:endpoint", kwargs={"endpoint_id": found.public_id})


def _new_page(request: HttpRequest, form: EndpointForm, *, status: int = 200) -> HttpResponse:
    return render(request, "partners/endpoint_new.html", {"form": form}, status=status)


def _page(
    request: HttpRequest, found: WebhookEndpoint, form: EndpointForm, *, status: int = 200
) -> HttpResponse:
    context = {"row": endpoint_row(found), "form": form, "deliveries": delivery_rows(found)}
    return render(request, "partners/endpoint.html", context, status=status)


def _shown_once(request: HttpRequest, found: WebhookEndpoint) -> HttpResponse:
    context = {
        "heading": _("The secret of this endpoint"),
        "what": _("Secret"),
        "copy_word": pgettext("to copy", "secret"),
        "text": found.secret,
        "back": _address(found),
    }
    return render(request, "partners/shown_once.html", context)
