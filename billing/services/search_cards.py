"""Card payments of orders that a restored backup does not know: found at the processor. Worker only."""

from datetime import timedelta

from django.db import transaction

from billing.card_offer import cards_are_taken
from billing.models import CardSession
from billing.rails.card_seen import CardRailError, SessionSeen
from billing.rails.cards import card_rail
from billing.services.after_restore import CARDS_STEP
from billing.services.card_event import ORDER_PREFIX
from core import decisions, restored
from core.models import Restoration

# The clocks of the processor and of this machine differ.
MARGIN = timedelta(minutes=5)


def search_cards() -> None:
    """Once after a restore: payment pages that were opened since the backup for orders that are lost. Nothing at any
    other time, or where no bank cards are taken.

    Where money came staff are asked; a page that is still open is ended, so that nobody pays for what is not here.
    Webhooks that were answered before the loss are not sent again, so only this look finds them. May be repeated.
    Raises CardRailError where the processor does not answer.
    """
    restoration = restored.latest()
    if restoration is None or not cards_are_taken() or not restored.awaits(CARDS_STEP):
        return
    lost = _lost(restoration)
    with transaction.atomic():
        for seen in lost:
            if seen.is_paid or seen.is_pending:
                _ask(seen)
        restored.done(CARDS_STEP, sessions=len(lost))


def _lost(restoration: Restoration) -> list[SessionSeen]:
    """Ours by their reference, not here by our rows. Raises CardRailError."""
    rail, found = card_rail(), []
    for seen in rail.sessions(since=restoration.backup_at - MARGIN):
        if not seen.reference.startswith(ORDER_PREFIX) or _is_known(seen):
            continue
        found.append(_ended(seen) if seen.status == "open" else seen)
    return found


def _ended(seen: SessionSeen) -> SessionSeen:
    """As it is afterwards: the buyer may have paid in this very moment."""
    try:
        return card_rail().expire_session(seen.session_id)
    except CardRailError as error:
        if not error.is_final:
            raise
        return card_rail().session(seen.session_id)


def _is_known(seen: SessionSeen) -> bool:
    """A session that was wanted when the backup was made is opened again with its key, and is then this one."""
    if CardSession.objects.filter(session_id=seen.session_id).exists():
        return True
    attempt = seen.metadata.get("attempt", "")
    return (
        attempt.isdecimal()
        and CardSession.objects.filter(
            payment__order__public_id=seen.reference, attempt=int(attempt[:4]), session_id=""
        ).exists()
    )


def _ask(seen: SessionSeen) -> None:
    decisions.open_decision(
        kind="card_payment_after_backup",
        subject=f"card_session:{seen.session_id}",
        order_ref=seen.reference,
        facts={
            "session": seen.session_id,
            "payment": seen.payment_intent,
            "amount_minor": str(seen.amount_minor),
            "currency": seen.currency,
            "order": seen.reference,
        },
    )
