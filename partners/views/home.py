"""The first page of a member."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from core import clock
from partners.models import Member, PartnerOrder
from partners.pages.keys import key_rows
from partners.pages.webhooks import endpoint_row
from partners.views.private import for_members
from partners.webhook_selectors import endpoints_of


@require_http_methods(["GET", "HEAD"])
@for_members
def home(request: HttpRequest, member: Member) -> HttpResponse:
    """Keys, endpoints, and how many orders there are."""
    partner = member.partner
    context = {
        "member": member,
        "keys": key_rows(partner, clock.now()),
        "endpoints": [endpoint_row(endpoint) for endpoint in endpoints_of(partner)],
        "orders": PartnerOrder.objects.filter(partner=partner).count(),
    }
    return render(request, "partners/home.html", context)
