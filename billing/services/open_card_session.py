"""Open a wanted session at the card processor. Worker only; the call is made outside any transaction."""

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from billing import card_offer, locks
from billing.card_texts import NAME_LENGTH, shorten
from billing.models import CardSession
from billing.rails.card_seen import CardRailError, SessionOrder, SessionSeen
from billing.rails.cards import card_rail
from billing.services.recompute import recompute
from core import claims, clock, decisions, outbox
from orders.lifecycle import OrderStatus
from orders.models import Order

# Up to three calls with their time-outs (15 s each) and both transactions around them.
CLAIM_SECONDS = 60
# Seconds until the next try: 2, 4, 8 ... 60.
LONGEST_PAUSE = 60
# A session is read again so often although nobody told of it: a lost event costs the buyer no more than that.
READ_EVERY = timedelta(seconds=60)
Status = CardSession.Status


def open_card_session(session_id: int) -> bool:
    """Open it; True if it is open now. One worker by a claim; the same key makes a repeat the same session.

    Locks, after the call, the order, the payment's view and the session. A refusal of the processor ends the session
    (the buyer may start another) and is a decision; silence is tried again.
    """
    due = CardSession.objects.filter(pk=session_id, status=Status.WANTED, next_at__lte=clock.system_now())
    token = claims.claim(due, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    try:
        row = CardSession.objects.select_related(
            "payment__order__quote__lot__accelerator", "payment__order__quote__image"
        ).get(pk=session_id)
        if not _is_still_wanted(row):
            _end(row, token, Status.ENDED, "")
            return False
        try:
            seen = card_rail().open_session(_order_for(row))
        except CardRailError as error:
            _note_failure(row, token, error)
            return False
        return _keep(row, token, seen)
    finally:
        claims.release(CardSession.objects.filter(pk=session_id), token=token)


def _is_still_wanted(row: CardSession) -> bool:
    waits = row.payment.order.status == OrderStatus.AWAITING_PAYMENT
    return waits and row.superseded_at is None and clock.now() < row.expires_at


def _order_for(row: CardSession) -> SessionOrder:
    order = row.payment.order
    # The processor lives by the true clock; the demo's own may run ahead of it.
    ends_at = row.expires_at - (clock.offset() if settings.DEMO else timedelta(0))
    return SessionOrder(
        key=f"{order.public_id}-{row.attempt}",
        reference=order.public_id,
        email=order.contact_email,
        language=row.language,
        name=line_text(order, row.language),
        amount_minor=row.amount_minor,
        currency=row.currency,
        expires_at=ends_at,
        return_url=f"{settings.SITE_URL}/{row.language}/orders/{order.token}/?card=back",
        metadata={"order": order.public_id, "attempt": str(row.attempt)},
    )


def line_text(order: Order, language: str) -> str:
    """The one line of the checkout page; nothing that the buyer typed is in it."""
    quote = order.quote
    with translation.override(language):
        lots = ngettext("%(count)d lot of %(name)s", "%(count)d lots of %(name)s", quote.lots) % {
            "count": quote.lots,
            "name": quote.lot.accelerator.name,
        }
        days = ngettext("%(count)d day", "%(count)d days", quote.days) % {"count": quote.days}
        text = _("%(lots)s for %(days)s, order %(order)s") % {
            # The order's number stays whole whatever the catalogue calls its cards.
            "lots": shorten(lots, NAME_LENGTH - 60),
            "days": days,
            "order": order.public_id,
        }
    return shorten(text, NAME_LENGTH)


def _keep(row: CardSession, token: uuid.UUID, seen: SessionSeen) -> bool:
    if not card_offer.is_checkout_address(seen.url):
        _end(row, token, Status.FAILED, "its page is not at the processor")
        return False
    with transaction.atomic():
        found = locks.card_session_for_update(row.pk)
        if found is None or found[2].claim_token != token:
            return False
        _order, _view, session = found
        session.session_id, session.url = seen.session_id, seen.url
        session.status, session.last_error, session.attempts = Status.OPEN, "", 0
        session.next_at = clock.system_now() + READ_EVERY
        session.save()
        decisions.close_open(
            kind="card_session_failed", subject=f"card_session:{row.pk}", reason="it could be opened"
        )
        if session.superseded_at is not None:
            transaction.on_commit(lambda: outbox.hint("billing.expire_card_session", row.pk))
    return True


def _note_failure(row: CardSession, token: uuid.UUID, error: CardRailError) -> None:
    if error.is_final:
        _end(row, token, Status.FAILED, error.reason)
        return
    pause = min(LONGEST_PAUSE, 2 ** (row.attempts + 1))
    CardSession.objects.filter(pk=row.pk, claim_token=token).update(
        attempts=row.attempts + 1,
        next_at=clock.system_now() + timedelta(seconds=pause),
        last_error=error.reason,
    )


def _end(row: CardSession, token: uuid.UUID, status: str, reason: str) -> None:
    """No session will come of this row; the payment, which may have waited for it only, is computed anew."""
    with transaction.atomic():
        found = locks.card_session_for_update(row.pk)
        if found is None or found[2].claim_token != token:
            return
        order, _view, session = found
        session.status, session.last_error = status, reason[:300]
        session.save(update_fields=["status", "last_error"])
        if status == Status.FAILED:
            decisions.open_decision(
                kind="card_session_failed",
                subject=f"card_session:{row.pk}",
                order_ref=order.public_id,
                facts={"reason": reason, "amount_minor": str(row.amount_minor), "currency": row.currency},
            )
        recompute(order_id=order.public_id)


def wanted_sessions(limit: int = 200) -> list[int]:
    """Sessions that wait for a worker."""
    rows = CardSession.objects.filter(claims.free(), status=Status.WANTED, next_at__lte=clock.system_now())
    return list(rows.order_by("next_at").values_list("pk", flat=True)[:limit])
