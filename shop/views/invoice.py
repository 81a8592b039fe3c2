"""A document of an order as PDF. It was made by a worker; here only stored bytes are served."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from billing.issued import document_by_token
from core.errors import NotFound
from shop.headers import private_page
from shop.views.errors import shows_refusals

# A document takes well under a second once a worker looks at it.
_TRY_AGAIN_SECONDS = 5


@require_safe
@private_page
@shows_refusals
def invoice_pdf(request: HttpRequest, token: str, invoice: str) -> HttpResponse:
    """The PDF, or a page that says that it is being made (202). The same 404 for "none" and "not yours"."""
    found = document_by_token(order_token=token, token=invoice)
    if found is None:
        raise NotFound(code="not_found", message=_("There is no such document."))
    if found.pdf is None:
        page = {"order_token": token, "number": str(found)}
        response = render(request, "shop/invoice_wait.html", page, status=202)
        response["Retry-After"] = response["Refresh"] = str(_TRY_AGAIN_SECONDS)
        return response
    response = HttpResponse(bytes(found.pdf), content_type="application/pdf")
    response["Content-Disposition"] = f'inline; filename="AnchorGPU-{found}.pdf"'
    return response
