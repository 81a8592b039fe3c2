"""One answer to one decision: asked on GET with all that it will do, given on POST by the service, then the list."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from core.admin_actions import carry_out
from core.decision_actions import decision_actions
from core.models import Decision
from desk.about import about_all
from desk.consequences import facts_of
from desk.forms import DeskReasonForm
from desk.links import may_see
from desk.page import desk_page
from desk.queue import row_of


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page()
def act(request: HttpRequest, decision_id: int, action: str) -> HttpResponse:
    """404 for what is not there, 403 without the permission of this action. A second click hears "already done"."""
    if not may_see(request.user, "core.decision"):
        raise PermissionDenied
    decision = Decision.objects.filter(pk=decision_id).first()
    found = (
        next((one for one in decision_actions(decision) if one.name == action), None) if decision else None
    )
    if decision is None or found is None:
        raise Http404
    if not request.user.has_perm(found.permission):
        raise PermissionDenied
    form = DeskReasonForm(request.POST if request.method == "POST" else None, action=found)
    # Whether it was done already the service says: it alone looks under the lock.
    if request.method == "POST" and form.is_valid() and carry_out(request, decision, found, form).is_over:
        return HttpResponseRedirect(reverse("desk:queue"), status=303)
    (about,) = about_all([decision])
    return render(
        request,
        "desk/act.html",
        {
            "row": row_of(about, request.user),
            "action": found,
            "facts": facts_of(about, action),
            "form": form,
        },
        status=400 if form.errors else 200,
    )
