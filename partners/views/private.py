"""What every member page shares: a member, headers of a private page, refusals as pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from core.errors import NotFound, Refusal, TooMany
from core.log_context import about
from partners.models import Member
from partners.session import member_of

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]
MemberView = Callable[Concatenate[HttpRequest, Member, P], HttpResponse]


def private(view: View[P]) -> View[P]:
    """Not stored, not indexed; its address is not passed on; what a service refuses becomes a page."""

    @wraps(view)
    def shown(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except Refusal as refusal:
            response = _refusal(request, refusal)
        response["Cache-Control"] = "private, no-store"
        response["Referrer-Policy"] = "same-origin"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return shown


def for_members(view: MemberView[P]) -> View[P]:
    """A private page that needs a member; who is none is led to the login."""

    @private
    @wraps(view)
    def shown(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        member = member_of(request)
        if member is None:
            return HttpResponseRedirect(reverse("partners:login"), status=303)
        about(partner=member.partner.slug)
        return view(request, member, *args, **kwargs)

    return shown


def actor_of(member: Member) -> str:
    """Who it was, for the audit."""
    return f"member:{member.mail}"[:150]


def _refusal(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    if isinstance(refusal, NotFound):
        raise Http404
    if not isinstance(refusal, TooMany):
        return render(request, "refusal.html", _context(refusal), status=refusal.status)
    response = render(request, "429.html", _context(refusal), status=429)
    if refusal.retry_after_seconds is not None:
        response["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def _context(refusal: Refusal) -> dict[str, Any]:
    return {
        "sentence": refusal.text,
        "retry_after_seconds": getattr(refusal, "retry_after_seconds", None),
        "link_url": reverse("partners:home"),
        "link_text": _("Back to the partner pages"),
    }
