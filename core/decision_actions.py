"""The buttons of a decision: the same on the desk and in the table of decisions."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from django import forms
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from core.admin_actions import Fact, ServiceAction
from core.decision_kinds import inputs_of, permission_of, services_of
from core.models import Decision

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# Names of the actions in settings.DECISION_KINDS.
LABELS: dict[str, "str | _StrPromise"] = {
    "note": _("Close with a note"),
    "try_again": _("Try again"),
    "move_to_whole_cards": _("Move to whole cards"),
    "card_is_sound": _("The card is sound"),
    "refund_now": _("Refund now"),
    "accept": _("Accept as paid in full"),
    "refund": _("Refund"),
    "refund_excess": _("Refund the excess"),
    "offer": _("Keep a lot for the buyer"),
    "clear": _("Let this money pass"),
    "sent": _("Enter the transaction hash"),
    "send_again": _("Send again"),
    "resume": _("Resume the endpoint"),
    "prepare_again": _("Prepare again"),
    "take_other_cards": _("Take other cards"),
    "tear_down": _("Try again now"),
    "take_down": _("Take the machine down"),
    "send_mail": _("Send the mail again"),
    "send_mails": _("Send these mails"),
}
# What such a button does, said before it is done; the note alone changes nothing but the decision.
_CLOSES = _("The decision is closed. The reason is kept and shown to other staff.")
EXPLAINS: dict[str, "str | _StrPromise"] = {
    "try_again": _("The event is handed to its handler once more."),
    "move_to_whole_cards": _(
        "The lease moves to whole cards. Its local disk starts empty; the time counts as missing."
    ),
    "card_is_sound": _("The card is sold again."),
    "refund_now": _("The lease is given up and the whole price falls due as a refund."),
    "accept": _("The order counts as paid from now on; what is missing is written off."),
    "refund": _(
        "What arrived falls due as a refund. The buyer is asked for an address, a bank card is credited."
    ),
    "refund_excess": _("What came above the price falls due as a refund; the order goes on."),
    "offer": _("Cards are held for the buyer, who is asked whether to start or to take the money back."),
    "clear": _("This money counts from now on as any other."),
    "sent": _("The worker looks for this transaction on the chain and verifies the refund by it."),
    "send_again": _("The refund is made at the card processor once more."),
    "resume": _("Events are sent to this address again from now on. What was missed stays in its log."),
    "prepare_again": _("The step that failed is tried again at once, without its pause."),
    "take_other_cards": _(
        "The lease moves to other free cards of the same accelerator and is prepared there. "
        "The old cards come back on sale when they are wiped."
    ),
    "tear_down": _(
        "The end of this lease and its wipe are tried again at once. The cards stay off sale until then."
    ),
    "take_down": _(
        "The machine is ended and wiped by the next comparison with the provider. What is on it is lost."
    ),
    "send_mail": _("The same mail goes to the same address once more."),
    "send_mails": _("All mails that were held back go out now, also those that were sent before the backup."),
}


def decision_actions(decision: Decision) -> Sequence[ServiceAction]:
    """One button for each service that may answer this kind, in the order of settings.DECISION_KINDS."""
    return [
        ServiceAction(
            name=name,
            label=LABELS.get(name, name.replace("_", " ").capitalize()),
            explain=EXPLAINS.get(name, _CLOSES),
            permission=permission_of(decision.kind, name),
            run=partial(_resolve, path),
            fields={
                key: partial(_text_field, label) for key, label in inputs_of(decision.kind, name).items()
            },
            offered=lambda row: row.closed_at is None,
            facts=_as_kept,
        )
        for name, path in services_of(decision.kind).items()
    ]


def _resolve(path: str, decision: Decision, actor: str, reason: str, **values: str) -> str | None:
    result = import_string(path)(decision=decision, actor=actor, reason=reason, **values)
    return result if isinstance(result, str) else None


def _text_field(label: "str | _StrPromise") -> forms.CharField:
    return forms.CharField(label=label, max_length=200, widget=UnfoldAdminTextInputWidget)


def _as_kept(decision: Decision) -> list[Fact]:
    """What the service knew when it asked, by its own names: the sum, the asset, the destination among them."""
    facts: list[Fact] = [(_("Order"), decision.order_ref)] if decision.order_ref else []
    return facts + [
        (name.replace("_", " ").capitalize(), str(value))
        for name, value in decision.facts.items()
        if value and not isinstance(value, dict | list)
    ]
