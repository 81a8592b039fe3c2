"""Find my orders: the same answer for every address, and a mail for one that has orders."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from core.errors import Invalid
from orders.contact import clean_email
from orders.services import find
from shop.forms.find import FindForm
from shop.forms.refused import show_refusal
from shop.headers import private_page
from shop.views.errors import shows_refusals
from shop.visitor import client_prefix


@require_http_methods(["GET", "HEAD", "POST"])
@private_page
@shows_refusals
def find_orders(request: HttpRequest) -> HttpResponse:
    """Ask for the links of one's orders. Whether there are any is told to the owner of the address alone."""
    form = FindForm(request.POST if request.method == "POST" else None, label_suffix="")
    if request.method == "POST" and form.is_valid():
        try:
            address = clean_email(form.cleaned_data["email"], field="email")
        except Invalid as refusal:
            show_refusal(form, refusal, fields={"email": "email"})
        else:
            find.ask(address=address, prefix=client_prefix(request))
            messages.success(
                request, _("Done. If this address has orders, a mail with their links is on its way.")
            )
            return HttpResponseRedirect(reverse("shop:find_orders"), status=303)
    minutes = int(find.BETWEEN_MAILS.total_seconds()) // 60
    return render(
        request,
        "shop/find_orders.html",
        {"form": form, "minutes": minutes},
        status=400 if form.errors else 200,
    )
