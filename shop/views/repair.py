"""The buyer moves a degraded lease to whole cards."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from core.errors import Refusal
from fleet.services.repair import move_degraded
from shop.headers import private_page
from shop.own_order import own_order
from shop.views.errors import shows_refusals


@require_POST
@private_page
@shows_refusals
def move(request: HttpRequest, token: str) -> HttpResponse:
    """Move now. A second click, or a lease that is whole again, is said on the page and changes nothing."""
    found = own_order(token)
    try:
        move_degraded(order_ref=found.public_id, actor="buyer")
    except Refusal as refusal:
        messages.warning(request, refusal.text)
    else:
        messages.success(request, _("Your lease moves. This page and a mail tell you when it is open again."))
    return HttpResponseRedirect(reverse("shop:order", kwargs={"token": found.token}), status=303)
