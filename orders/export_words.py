"""The last safe start of an export in words, the same on the page and in a mail."""

from datetime import datetime

from django.utils.translation import gettext as _

from core.formats import amount_text, duration_text, instant_text
from fleet.export import ExportPlan, Missing, RateSource


def export_sentences(plan: ExportPlan, moment: datetime) -> list[str]:
    """What holds first, then what it rests on. In the active language."""
    if plan.missing == Missing.SIZE:
        return [
            _(
                "How much you want to take away is not known yet. Once it is entered on the order page, we tell you "
                "when your export must start at the latest."
            )
        ]
    words = _words(plan)
    if plan.missing == Missing.RATE:
        return [
            _(
                "For %(size)s GB the latest start cannot be told: no rate is known. Measure yours and enter it on "
                "the order page."
            )
            % words
        ]
    if plan.missing == Missing.END:
        return [
            _("%(size)s GB at %(rate)s MB/s take %(takes)s.") % words,
            _("The latest start is known once the term has begun."),
        ]
    return [_headline(plan, moment, words), *formula(plan)]


def formula(plan: ExportPlan) -> list[str]:
    """How the last safe start is counted."""
    words = _words(plan)
    counted = (
        _("%(size)s GB at %(rate)s MB/s take %(takes)s; %(margin)s more are kept for checking what arrived.")
        % words
    )
    if plan.rate_source != RateSource.UPLINK:
        return [counted]
    return [counted, _("The rate is half of the published uplink; enter yours once you have measured it.")]


def _headline(plan: ExportPlan, moment: datetime, words: dict[str, str]) -> str:
    if plan.is_past(moment):
        return (
            _(
                "The last safe start of your export was %(time)s: %(size)s GB may no longer get out in time. Take "
                "the newest checkpoint first, or extend the term."
            )
            % words
        )
    return _("Start your export by %(time)s at the latest.") % words


def _words(plan: ExportPlan) -> dict[str, str]:
    return {
        "size": "" if plan.size_gb is None else amount_text(plan.size_gb, places=None),
        "rate": "" if plan.rate_mb_s is None else amount_text(plan.rate_mb_s, places=None),
        "takes": "" if plan.takes is None else duration_text(plan.takes),
        "margin": duration_text(plan.margin),
        "time": "" if plan.last_safe_at is None else instant_text(plan.last_safe_at, style="sentence"),
    }
