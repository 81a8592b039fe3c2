"""Decisions about leases, cards, nodes and the provider, in words."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from core.formats import instant_text
from desk.about import About
from desk.decision_words.said import Words, quoted, sentences


def _last_error(about: About) -> str:
    """What the lease says now, else what was known when it was asked."""
    error = (about.lease.last_error if about.lease is not None else "") or about.fact("last_error")
    return _("Last error: %(error)s.") % {"error": quoted(error).rstrip(".")} if error else ""


def _rented(about: About) -> dict[str, str]:
    return {"machine": about.machine, "buyer": about.buyer}


def _late_text(about: About) -> str:
    lease = about.lease
    promised = ""
    if lease is not None:
        promised = _("Paid %(paid)s, promised by %(promised)s.") % {
            "paid": instant_text(lease.reserved_at, style="sentence"),
            "promised": instant_text(lease.ready_by, style="sentence"),
        }
    until = about.decision.due_at
    after = ""
    if until is not None:
        after = _("Tried on until %(until)s; then the order fails and the full refund falls due.") % {
            "until": instant_text(until, style="sentence")
        }
    return sentences(_last_error(about), promised, after)


def _failed_text(about: About) -> str:
    return sentences(
        _last_error(about),
        _("The cards are wiped and come back on sale. The full refund falls due by itself.")
        if about.lease is None or about.lease.wiped_at is None
        else _("The cards are back on sale. Closes by itself once the refund has arrived."),
    )


def _failing_text(about: About) -> str:
    return sentences(
        _last_error(about),
        _("It is tried again with growing pauses, and on another node where one is free."),
    )


def _mismatch_text(about: About) -> str:
    found = [
        f"{row.get('serial', '?')}: {row.get('problem', '')}".strip(": ") for row in about.rows("differences")
    ]
    return sentences(
        f"{quoted(', '.join(found))}." if found else "",
        _(
            "Nothing was promised to the buyer and no term has begun. Other cards are taken where some are free."
        ),
    )


def _degraded_heading(about: About) -> str:
    missing = len(about.rows("cards")) or 1
    return ngettext(
        "%(count)d card of %(machine)s is missing for %(buyer)s",
        "%(count)d cards of %(machine)s are missing for %(buyer)s",
        missing,
    ) % ({"count": missing} | _rented(about))


def _degraded_text(about: About) -> str:
    cards = ", ".join(
        f"{row.get('serial', '?')} ({row.get('node', '')}, {row.get('problem', '')})"
        for row in about.rows("cards")
    )
    since = about.when("since")
    return sentences(
        f"{quoted(cards)}." if cards else "",
        _("Since %(since)s.") % {"since": since} if since else "",
        _("Each minute is credited. Closes by itself when the cards are back."),
    )


def _machine_problems(about: About) -> str:
    found = ", ".join(str(row.get("problem", "")) for row in about.rows("differences"))
    return _("Found: %(found)s.") % {"found": quoted(found)} if found else ""


def _tries(about: About) -> str:
    return about.fact("attempts") or "?"


MACHINES: dict[str, Words] = {
    "lease_late": Words(
        tone="bad",
        icon="clock",
        badge=gettext_lazy("Late"),
        heading=lambda about: _("%(machine)s for %(buyer)s: not ready") % _rented(about),
        text=_late_text,
    ),
    "lease_failed": Words(
        tone="bad",
        icon="stop",
        badge=gettext_lazy("Failed"),
        heading=lambda about: _("%(machine)s for %(buyer)s: not delivered") % _rented(about),
        text=_failed_text,
    ),
    "lease_failing": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Preparation fails"),
        heading=lambda about: (
            _("%(machine)s for %(buyer)s: preparation failed %(tries)s times")
            % (_rented(about) | {"tries": _tries(about)})
        ),
        text=_failing_text,
    ),
    "delivery_mismatch": Words(
        tone="bad",
        icon="warn",
        badge=gettext_lazy("Not as ordered"),
        heading=lambda about: _("%(machine)s for %(buyer)s: the test found something else") % _rented(about),
        text=_mismatch_text,
    ),
    "lease_degraded": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Degraded"),
        heading=_degraded_heading,
        text=_degraded_text,
    ),
    "wipe_failed": Words(
        tone="bad",
        icon="wipe",
        badge=gettext_lazy("Wipe fails"),
        heading=lambda about: (
            _("The cards of %(lease)s are not wiped after %(tries)s tries")
            % {"lease": about.name, "tries": _tries(about)}
        ),
        text=lambda about: sentences(
            _last_error(about),
            _("They stay off sale until the wipe is confirmed. It is tried again with growing pauses."),
        ),
    ),
    "end_failing": Words(
        tone="bad",
        icon="stop",
        badge=gettext_lazy("End fails"),
        heading=lambda about: (
            _("The end of %(lease)s is not confirmed after %(tries)s tries")
            % {"lease": about.name, "tries": _tries(about)}
        ),
        text=lambda about: sentences(
            _last_error(about),
            _("The gateway lets nobody in. The cards stay off sale until it is confirmed."),
        ),
    ),
    "access_sync_failing": Words(
        tone="warn",
        icon="key",
        badge=gettext_lazy("Access not passed on"),
        heading=lambda about: (
            _("A change of access to %(lease)s has not reached the provider") % {"lease": about.name}
        ),
        text=lambda about: sentences(
            _last_error(about), _("It is tried again with growing pauses and closes once it is confirmed.")
        ),
    ),
    "extension_failing": Words(
        tone="warn",
        icon="clock",
        badge=gettext_lazy("Extension fails"),
        heading=lambda about: (
            _("The extension of %(lease)s has not reached the provider") % {"lease": about.name}
        ),
        text=lambda about: sentences(
            _last_error(about), _("The old end stands until it has. Else its refund falls due by itself.")
        ),
    ),
    "machine_missing": Words(
        tone="bad",
        icon="stop",
        badge=gettext_lazy("Machine missing"),
        heading=lambda about: _("The provider has no machine for %(lease)s") % {"lease": about.name},
        text=lambda about: sentences(
            _machine_problems(about), _("The time counts as missing. Closes when the machine is there again.")
        ),
    ),
    "machine_differs": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Record differs"),
        heading=lambda about: (
            _("The provider has something else on record for %(lease)s") % {"lease": about.name}
        ),
        text=lambda about: sentences(
            _machine_problems(about), _("Members and end are told to it again by themselves.")
        ),
    ),
    "orphan_machine": Words(
        tone="warn",
        icon="eye",
        badge=gettext_lazy("Orphan"),
        heading=lambda about: _("A machine runs that no lease knows: %(machine)s") % {"machine": about.name},
        text=lambda about: sentences(
            _last_error(about), _("It is never ended by itself. Closes when the provider no longer has it.")
        ),
    ),
    "node_away": Words(
        tone="bad",
        icon="stop",
        badge=gettext_lazy("Node away"),
        heading=lambda about: _("%(node)s does not answer") % {"node": about.name},
        text=lambda _about: _("Nothing new is placed on it. Closes by itself when it answers again."),
    ),
    "node_drained": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Drained"),
        heading=lambda about: _("%(node)s takes no new work, and leases run on it") % {"node": about.name},
        text=lambda about: sentences(
            _("Slurm says: %(why)s.") % {"why": about.fact("why")},
            _("Leases: %(leases)s.")
            % {"leases": ", ".join(map(str, about.decision.facts.get("leases", [])))},
            _(
                "They run on; nothing new is placed on it. Closes when the node is on sale again or no lease needs it."
            ),
        ),
    ),
    "provider_silent": Words(
        tone="bad",
        icon="stop",
        badge=gettext_lazy("Provider silent"),
        heading=lambda _about: _("The provider does not answer"),
        text=lambda about: sentences(
            _("Since %(since)s.") % {"since": about.when("since")} if about.when("since") else "",
            _last_error(about),
            _("Leases go on as they are; nothing is prepared or ended meanwhile."),
        ),
    ),
    "card_unsound": Words(
        tone="bad",
        icon="stop",
        badge=gettext_lazy("Unhealthy"),
        heading=lambda about: (
            _("Card %(serial)s on %(node)s: %(problem)s")
            % {
                "serial": about.fact("serial") or about.name,
                "node": about.fact("node") or "?",
                "problem": about.fact("problem") or "?",
            }
        ),
        text=lambda about: (
            _("Off sale since %(since)s. It is sold again when a look finds it sound, or you say so.")
            % {"since": instant_text(about.decision.opened_at, style="sentence")}
        ),
    ),
}
