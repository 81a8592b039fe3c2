"""Demo only, worker only: let delayed test payments happen and post the test processor's events to our webhook."""

import time
import urllib.error
import urllib.request
from datetime import timedelta

from django.conf import settings

from billing import card_offer
from billing.models import DemoCardEvent
from billing.rails import demo_cards
from billing.rails.stripe_signature import sign
from core import clock

# Our own web server on this machine.
TIMEOUT_SECONDS = 5.0
LONGEST_PAUSE = 60
WEBHOOK_PATH = "/webhooks/stripe/"


def work() -> None:
    """Everything that is due. Safe to repeat: an event that is posted twice is stored once."""
    if not card_offer.is_demo_card():
        return
    for session_id in demo_cards.due_sessions():
        demo_cards.settle_time(session_id)
    for event_id in demo_cards.due_events():
        post_event(event_id)


def post_event(event_id: int) -> bool:
    """Sign and post one event; True if our webhook took it. One that it does not take is tried again."""
    row = DemoCardEvent.objects.filter(pk=event_id, posted_at=None).first()
    if row is None:
        return False
    own = DemoCardEvent.objects.filter(pk=event_id)
    body = row.body.encode()
    header = sign(row.body, card_offer.webhook_secrets()[0], timestamp=int(time.time()))
    request = urllib.request.Request(  # noqa: S310  # SITE_URL is checked at the start
        settings.SITE_URL + WEBHOOK_PATH,
        data=body,
        headers={"Content-Type": "application/json; charset=utf-8", "Stripe-Signature": header},
    )
    # No proxy of the environment: the address is our own.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=TIMEOUT_SECONDS):
            own.update(posted_at=clock.system_now(), last_error="")
        return True
    except (urllib.error.URLError, OSError, ValueError) as error:
        pause = timedelta(seconds=min(LONGEST_PAUSE, 2 ** (row.attempts + 1)))
        own.update(
            attempts=row.attempts + 1,
            next_at=clock.system_now() + pause,
            last_error=f"{type(error).__name__}: {error}"[:300],
        )
        return False
