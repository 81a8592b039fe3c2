"""Decisions that a restored backup leaves: what happened after it was taken is known to chain and provider only."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from desk.about import About
from desk.decision_words.said import Words, quoted, sentences


def _restored_text(about: About) -> str:
    nodes = about.fact("nodes_waiting")
    waits = ""
    if nodes.isascii() and nodes.isdigit() and int(nodes):
        waits = ngettext(
            "%(count)d node is sold from once the provider has been asked.",
            "%(count)d nodes are sold from once the provider has been asked.",
            int(nodes),
        ) % {"count": int(nodes)}
    return sentences(
        waits,
        _(
            "Orders after that moment are lost here. Their money and machines come up as decisions by themselves."
        ),
    )


def _held_heading(about: About) -> str:
    count = about.fact("mails")
    number = int(count) if count.isascii() and count.isdigit() else 0
    if not number:
        return _("Mails of the backup are held back")
    return ngettext(
        "%(count)d mail of the backup is held back", "%(count)d mails of the backup are held back", number
    ) % {"count": number}


def _ends(about: About) -> str:
    ours, theirs = about.when("ours"), about.when("at_the_provider")
    if not (ours and theirs):
        return ""
    return _("Here until %(ours)s, at the provider until %(theirs)s.") % {"ours": ours, "theirs": theirs}


RESTORED: dict[str, Words] = {
    "backup_restored": Words(
        tone="warn",
        icon="info",
        badge=gettext_lazy("Backup restored"),
        heading=lambda about: (
            _("The shop stands as it was on %(at)s")
            % {"at": about.when("backup_at") or about.fact("backup_at")}
        ),
        text=_restored_text,
    ),
    "mails_held": Words(
        tone="warn",
        icon="info",
        badge=gettext_lazy("Mails held back"),
        heading=_held_heading,
        text=lambda _about: _("They may have been sent before. Nothing is sent twice until you say so."),
    ),
    "payment_after_backup": Words(
        tone="bad",
        icon="coin",
        badge=gettext_lazy("Money of a lost order"),
        heading=lambda about: (
            _("Money on an address of ours that no order knows, on %(network)s")
            % {"network": about.fact("network")}
        ),
        text=lambda about: sentences(
            _("%(address)s, index %(index)s.")
            % {"address": about.fact("address"), "index": about.fact("index")},
            _(
                "It came after the backup. The buyer has the order's mail: make it good or send it back by hand."
            ),
        ),
    ),
    "card_payment_after_backup": Words(
        tone="bad",
        icon="refund",
        badge=gettext_lazy("Money of a lost order"),
        heading=lambda about: (
            _("%(amount)s by bank card for an order that is lost") % {"amount": about.minor()}
        ),
        text=lambda about: sentences(
            _("Session %(session)s.") % {"session": about.fact("session")} if about.has("session") else "",
            _("It came after the backup. Make it good, or give it back at the card processor."),
        ),
    ),
    "lease_end_differs": Words(
        tone="warn",
        icon="clock",
        badge=gettext_lazy("End differs"),
        heading=lambda about: _("The provider keeps %(lease)s longer than we do") % {"lease": about.name},
        text=lambda about: sentences(
            quoted(_ends(about)), _("It was most likely extended and paid for after the backup.")
        ),
    ),
}
