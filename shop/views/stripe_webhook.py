"""The address that the card processor posts its events to. Thin: bounded, verified, stored, answered."""

import structlog
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from billing.card_offer import cards_are_taken
from billing.rails.stripe_signature import BadEvent
from billing.services.card_event import store_event

log = structlog.get_logger(__name__)

# Events are a few kilobytes; nothing larger is read, signed or not.
MAX_BYTES = 256 * 1024


@csrf_exempt
@require_POST
def stripe_webhook(request: HttpRequest) -> HttpResponse:
    """200 once the event is stored, also for a repeat; 400 for what is not signed by the processor.

    Anything else that goes wrong is a 5xx, and the processor sends it again.
    """
    if not cards_are_taken():
        return HttpResponse(status=404)
    payload = request.read(MAX_BYTES + 1)
    if len(payload) > MAX_BYTES:
        return HttpResponse("The event is too large.\n", status=413, content_type="text/plain")
    try:
        store_event(payload=payload, signature=request.headers.get("Stripe-Signature", ""))
    except BadEvent as error:
        log.warning("card_event_refused", reason=str(error), size=len(payload))
        return HttpResponse("This is not a signed event.\n", status=400, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")
