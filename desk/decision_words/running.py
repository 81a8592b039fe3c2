"""Decisions about running the shop: mail, webhooks, sweeps, events, and what buyers report."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.formats import duration_text, instant_text
from desk.about import About
from desk.decision_words.said import Words, quoted, sentences


def _error(about: About) -> str:
    error = about.fact("error") or about.fact("last_error")
    return _("Last error: %(error)s.") % {"error": quoted(error).rstrip(".")} if error else ""


def _sweep_text(about: About) -> str:
    last = about.instant("last_finished_at")
    limit = about.fact("limit_seconds")
    ran = (
        _("Last full run: %(last)s.") % {"last": instant_text(last, style="sentence")}
        if last is not None
        else _("It has never run.")
    )
    bound = (
        _("It should run at least every %(limit)s.") % {"limit": duration_text(int(limit))}
        if limit.isascii() and limit.isdigit()
        else ""
    )
    return sentences(ran, bound, _error(about), _("Closes by itself when it runs again."))


def _webhook_text(about: About) -> str:
    since = about.when("failing_since")
    return sentences(
        f"{quoted(about.fact('url'), limit=120)}." if about.has("url") else "",
        _("It had failed since %(since)s.") % {"since": since} if since else "",
        _("The partner has been told by mail. What was missed stays in the log and can be sent again."),
    )


def _answer_to(about: About) -> str:
    """Whoever answers writes from his own mail program."""
    if about.order is None or not about.order.mail_to:
        return ""
    return _("Answer by mail to %(address)s; closing sends nothing.") % {"address": about.order.mail_to}


RUNNING: dict[str, Words] = {
    "mail_failed": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Mail bounced"),
        heading=lambda about: (
            _("“%(subject)s” did not reach %(to)s")
            % {"subject": quoted(about.fact("subject"), limit=80), "to": about.fact("to")}
        ),
        text=lambda about: sentences(
            _error(about), _("Nothing is tried again by itself. The order page shows the same to the buyer.")
        ),
    ),
    "webhook_paused": Words(
        tone="warn",
        icon="stop",
        badge=gettext_lazy("Webhook paused"),
        heading=lambda about: (
            _("Events no longer go to %(partner)s") % {"partner": about.fact("partner") or about.name}
        ),
        text=_webhook_text,
    ),
    "sweep_late": Words(
        tone="bad",
        icon="clock",
        badge=gettext_lazy("Sweep late"),
        heading=lambda about: _("The sweep %(sweep)s does not run") % {"sweep": about.name},
        text=_sweep_text,
    ),
    "outbox_parked": Words(
        tone="bad",
        icon="stop",
        badge=gettext_lazy("Event parked"),
        heading=lambda about: (
            _("%(event)s could not be handled by %(handler)s")
            % {"event": about.fact("event") or about.name, "handler": about.fact("handler") or "?"}
        ),
        text=lambda about: sentences(_error(about), _("Later events of the same thing go on without it.")),
    ),
    "problem_reported": Words(
        tone="info",
        icon="info",
        badge=gettext_lazy("Problem reported"),
        heading=lambda about: _("%(buyer)s writes") % {"buyer": about.buyer},
        text=lambda about: sentences(
            f"“{quoted(about.fact('text'), limit=600)}”" if about.has("text") else "",
            _answer_to(about),
        ),
    ),
}
