""" "I have paid": a hint that starts a check, limited per order, and never more than a hint."""

import re
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from billing import locks
from billing.models import Claim, PaymentView
from core import clock, events, outbox
from core.errors import Invalid, NotFound, TooMany

_HASH = re.compile(r"0x[0-9a-fA-F]{64}")
# After a claim on an old order its address is watched closely again for this long.
WATCH_AGAIN = timedelta(hours=1)


def clean_hash(text: str, *, field: str = "transaction_hash") -> str:
    """Lower case, or empty. Raises Invalid: anything but 0x and 64 hex digits never reaches a node."""
    value = text.strip()
    if not value:
        return ""
    if not _HASH.fullmatch(value):
        raise Invalid(
            code="invalid_hash",
            message=_("A transaction hash is 0x and 64 characters from 0 to 9 and a to f."),
            field=field,
        )
    return value.lower()


def claim(*, order_id: str, by: str, transaction_hash: str = "") -> PaymentView:
    """Record the claim and hint to a worker. The state does not change by it.

    Locks the order, then the payment's view. Raises NotFound, Invalid(invalid_hash), TooMany(rate_limited) with
    the seconds to wait: 1 in CLAIM_INTERVAL_SECONDS, CLAIM_HOURLY_LIMIT in an hour, counted in the database.
    """
    cleaned = clean_hash(transaction_hash)
    with transaction.atomic():
        found = locks.payment_for_update(order_id)
        if found is None:
            raise NotFound(code="not_found", message=_("There is no such order."))
        order, view = found
        _check_rate(view)
        Claim.objects.create(payment=view.payment, transaction_hash=cleaned, by=by, at=clock.system_now())
        again = clock.now() + WATCH_AGAIN
        if view.watch_until < again:
            view.watch_until = again
            view.save(update_fields=["watch_until"])
        events.emit(name="payment.claimed", subject=f"payment:{view.payment_id}", order_ref=order.public_id)
        network = view.payment.network
        transaction.on_commit(lambda: outbox.hint("billing.watch_network", network))
    return view


def _check_rate(view: PaymentView) -> None:
    moment = clock.system_now()
    recent = list(
        Claim.objects.filter(payment=view.payment, at__gt=moment - timedelta(hours=1))
        .order_by("-at")
        .values_list("at", flat=True)[: settings.CLAIM_HOURLY_LIMIT]
    )
    if not recent:
        return
    wait = timedelta(seconds=settings.CLAIM_INTERVAL_SECONDS) - (moment - recent[0])
    if len(recent) >= settings.CLAIM_HOURLY_LIMIT:
        wait = max(wait, timedelta(hours=1) - (moment - recent[-1]))
    if wait > timedelta(0):
        seconds = int(wait.total_seconds()) + 1
        raise TooMany(
            code="rate_limited",
            message=ngettext_lazy(
                "We checked a moment ago. The next look is possible in %(seconds)s second.",
                "We checked a moment ago. The next look is possible in %(seconds)s seconds.",
                "seconds",
            ),
            params={"seconds": seconds},
            retry_after_seconds=seconds,
        )
