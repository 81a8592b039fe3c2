"""What is wrong with a card of a lease, in words for its buyer: the same on the page and in the mail."""

from django.utils.translation import gettext as _


def problem_text(problem: str) -> str:
    """A problem that the fleet records (fleet.services.watch_health), as a sentence about the card."""
    sentences = {
        "missing": _("The machine does not see it any more."),
        "unhealthy": _("It reports a fault."),
        "other_model": _("The machine shows another model."),
        "other_card": _("The machine shows another card."),
        "node_away": _("Its machine does not answer."),
        "machine_missing": _("Its machine is not there any more."),
        "engine_silent": _("The system that runs the machines does not answer, so nobody can vouch for it."),
        "moving": _("Access is closed while your lease moves."),
    }
    return sentences.get(problem, _("It does not work as ordered."))
