"""Mails before the end of a term: they name the end itself and the time that was truly left when they were written."""

from datetime import datetime

from django.utils import translation
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from core import clock
from core.formats import instant_text
from fleet import selectors as fleet
from fleet.lifecycle import OPEN_STATES
from fleet.models import Lease
from orders.export_words import export_sentences
from orders.models import Order
from orders.services import notify


def reminder(order: Order, lease: Lease, *, kind: str, ends_at: str) -> None:
    """The term ends soon. One mail per kind and end; none for an end that has moved or passed since."""
    _tell(order, lease, "reminder", told_of=parse_datetime(ends_at), key=f"reminder-{kind}")


def export_window(order: Order, lease: Lease, *, ends_at: str) -> None:
    """The time to take results away has come. The window of an end that was reached in one leap is not told."""
    _tell(order, lease, "export", told_of=parse_datetime(ends_at), key="export")


def _tell(order: Order, lease: Lease, name: str, *, told_of: datetime | None, key: str) -> None:
    ends_at, moment = lease.ends_at, clock.now()
    if ends_at is None or told_of != ends_at or moment >= ends_at or lease.status not in OPEN_STATES:
        return
    with translation.override(order.mail_language):
        words = {"order": order.public_id, "time": instant_text(ends_at, style="sentence")}
        subjects = {
            "reminder": _("Your term ends on %(time)s · %(order)s"),
            "export": _("Bring your results out, the term ends on %(time)s · %(order)s"),
        }
        subject = subjects[name] % words
        facts = {
            "lease": lease,
            "left": ends_at - moment,
            "export_sentences": export_sentences(fleet.export_plan_of(lease), moment),
        }
    notify.queue(order, name, subject, facts, key=f"{key}-{int(ends_at.timestamp())}")
