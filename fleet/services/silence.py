"""What it means that the provider does not answer: a note first, and for the buyers an outage only after a while."""

from datetime import datetime, timedelta

from django.db import transaction

from core import clock, decisions
from fleet import locks
from fleet.models import EngineSilence

KIND, SUBJECT = "provider_silent", "provider"
# A controller that restarts or loses a packet is back within two looks; a person is asked from the third on.
LOOKS_BEFORE_ALERT = 3
# Machines run on while their controller is down, so that its silence alone proves nothing. After so many looks in a
# row over so long nobody can vouch for the cards any more, and the doubt is ours: it counts as an outage.
LOOKS_BEFORE_OUTAGE = 10
OUTAGE_AFTER = timedelta(minutes=10)


def note_silence(reason: str) -> datetime | None:
    """One more look without an answer; since when the cards count as missing, or None while it may be a hiccup.

    Locks the open record. Safe to repeat: each call is a look.
    """
    with transaction.atomic():
        silence = locks.engine_silence_for_update()
        if silence is None:
            EngineSilence.objects.create(
                began_at=clock.now(), began_system_at=clock.system_now(), reason=reason[:2000]
            )
            return None
        silence.looks += 1
        silence.reason = reason[:2000]
        silence.save(update_fields=["looks", "reason"])
        if silence.looks >= LOOKS_BEFORE_ALERT:
            decisions.open_decision(
                kind=KIND,
                subject=SUBJECT,
                facts={"since": silence.began_at.isoformat(), "looks": silence.looks, "last_error": reason},
            )
        lasted = clock.system_now() - silence.began_system_at
        return silence.began_at if silence.looks >= LOOKS_BEFORE_OUTAGE and lasted >= OUTAGE_AFTER else None


def note_answer() -> None:
    """The provider answers: the silence is over. Locks the open record. Safe to repeat."""
    if not EngineSilence.objects.filter(ended_at=None).exists():
        return
    with transaction.atomic():
        silence = locks.engine_silence_for_update()
        if silence is not None:
            silence.ended_at = max(clock.now(), silence.began_at)
            silence.save(update_fields=["ended_at"])
        decisions.close_open(kind=KIND, subject=SUBJECT, reason="The provider answers again.")
