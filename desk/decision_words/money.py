"""Decisions about money on chain and about refunds, in words."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from core.formats import instant_text, token_text
from desk.about import About, token_of
from desk.decision_words.said import Words, quoted, sentences


def _asset(about: About) -> str:
    return about.fact("asset") or about.fact("currency")


def _others(about: About) -> str:
    """What came in another asset or on another network: "500.00 USDC.e on Base"."""
    found = [
        _("%(amount)s %(asset)s on %(network)s")
        % {
            "amount": token_of(row.get("amount")) or row.get("units", ""),
            "asset": row.get("asset", ""),
            "network": row.get("network", ""),
        }
        for row in about.rows("others")
    ]
    return ", ".join(found)


def _received(about: About) -> str:
    if about.has("received", "asked", "asset"):
        return _("%(received)s of %(asked)s %(asset)s arrived on %(network)s.") % {
            "received": about.token("received"),
            "asked": about.token("asked"),
            "asset": about.fact("asset"),
            "network": about.fact("network"),
        }
    if about.has("card_paid"):
        return _("%(paid)s of %(asked)s came by bank card.") % {
            "paid": about.money("card_paid"),
            "asked": about.money("amount"),
        }
    return ""


def _partial_heading(about: About) -> str:
    if about.has("received", "asked", "asset"):
        return _("%(received)s of %(asked)s %(asset)s arrived") % {
            "received": about.token("received"),
            "asked": about.token("asked"),
            "asset": about.fact("asset"),
        }
    return _("Less arrived than the order costs")


def _partial_text(about: About) -> str:
    missing = ""
    if about.has("still_due", "asset"):
        missing = _("%(missing)s %(asset)s are missing and the hold has ended.") % {
            "missing": about.token("still_due"),
            "asset": about.fact("asset"),
        }
    return sentences(
        missing, _("More money on the same address is still seen. Else nothing happens until you decide.")
    )


def _over_heading(about: About) -> str:
    over = about.token("over")
    if about.has("asset") and over not in ("", token_text(0)):
        return _("%(over)s %(asset)s more than was asked") % {"over": over, "asset": about.fact("asset")}
    return _("More money came than the order costs")


def _over_text(about: About) -> str:
    return sentences(
        _received(about), _("The order goes on. What is too much stays here until you give it back.")
    )


def _late_heading(about: About) -> str:
    if about.has("late", "asset"):
        return _("%(late)s %(asset)s after the hold ended") % {
            "late": about.token("late"),
            "asset": about.fact("asset"),
        }
    return _("Money came after the hold ended")


def _late_text(about: About) -> str:
    until = about.order.offered_until if about.order is not None else None
    if until is not None:
        return _("A lot is kept until %(until)s. The buyer has been asked; no answer yet.") % {
            "until": instant_text(until, style="sentence")
        }
    return _(
        "A free lot is looked for by itself, and the buyer is asked. Where none is found in time, the money falls "
        "due as a refund."
    )


def _other_heading(about: About) -> str:
    others = _others(about)
    if others and about.has("asked", "asset"):
        return _("%(others)s instead of %(asked)s %(asset)s") % {
            "others": others,
            "asked": about.token("asked"),
            "asset": about.fact("asset"),
        }
    return others or _("Money came in another way than was asked")


def _other_text(_about: About) -> str:
    return _(
        "It does not pay the order by itself. The address is ours: it can be taken as payment, or it can go back "
        "once the buyer names an address."
    )


def _screening_heading(about: About) -> str:
    senders = about.decision.facts.get("senders") or []
    return ngettext(
        "Money from %(count)d sender on a list", "Money from %(count)d senders on a list", len(senders) or 1
    ) % {"count": len(senders) or 1}


def _screening_text(about: About) -> str:
    senders = about.decision.facts.get("senders") or []
    named = ""
    if isinstance(senders, list) and senders:
        named = ngettext("Sender: %(senders)s.", "Senders: %(senders)s.", len(senders)) % {
            "senders": quoted(", ".join(str(sender) for sender in senders))
        }
    return sentences(named, _("Nothing settles and nothing goes back before you have decided."))


def _no_capacity_text(about: About) -> str:
    falls_due = ""
    if about.left_text:
        falls_due = _("Without an answer the refund falls due in %(left)s.") % {"left": about.left_text}
    return sentences(
        _("The cards went before the money was seen. The buyer has been told."),
        _("A lot that comes free is offered to the buyer by itself."),
        falls_due,
    )


def _reversed_text(about: About) -> str:
    return sentences(
        _("The chain took back what had settled."),
        _("Access is closed and the cards are kept while the money may return; then the lease ends.")
        if about.lease is not None
        else _("Nothing is delivered for it."),
    )


def _destination(about: About) -> str:
    return _("To %(destination)s on %(network)s.") % {
        "destination": about.fact("destination"),
        "network": about.fact("network"),
    }


def _refund_due_text(about: About) -> str:
    problem = ""
    if about.has("problem"):
        problem = _("The last try failed: %(problem)s.") % {"problem": quoted(about.fact("problem"))}
    return sentences(
        _destination(about),
        _("The buyer has confirmed this address. Done only when the chain shows it."),
        problem,
    )


def _unverified_text(about: About) -> str:
    return sentences(
        _destination(about),
        _("Transaction %(hash)s.") % {"hash": about.fact("transaction_hash")},
        _("Last look: %(problem)s.") % {"problem": quoted(about.fact("problem"))}
        if about.has("problem")
        else "",
        _("It is looked for on and on; after a day it counts as failed."),
    )


MONEY: dict[str, Words] = {
    "payment_partial": Words(
        tone="warn", icon="warn", badge=gettext_lazy("Partial"), heading=_partial_heading, text=_partial_text
    ),
    "payment_over": Words(
        tone="info",
        icon="refund",
        badge=gettext_lazy("Paid too much"),
        heading=_over_heading,
        text=_over_text,
    ),
    "payment_late": Words(
        tone="warn", icon="clock", badge=gettext_lazy("Paid late"), heading=_late_heading, text=_late_text
    ),
    "payment_wrong_asset": Words(
        tone="warn", icon="warn", badge=gettext_lazy("Wrong token"), heading=_other_heading, text=_other_text
    ),
    "payment_wrong_network": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Wrong network"),
        heading=_other_heading,
        text=_other_text,
    ),
    "payment_screening": Words(
        tone="bad",
        icon="shield",
        badge=gettext_lazy("Sender on a list"),
        heading=_screening_heading,
        text=_screening_text,
    ),
    "payment_reversed": Words(
        tone="bad",
        icon="refund",
        badge=gettext_lazy("Reversed"),
        heading=lambda about: _("%(amount)s are gone again") % {"amount": about.money("amount")},
        text=_reversed_text,
    ),
    "payment_disagree": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Sums disagree"),
        heading=lambda _about: _("Balance and transfers of a payment differ"),
        text=lambda about: sentences(
            _received(about), _("It is read again in every round and closes once both agree.")
        ),
    ),
    "payment_unreadable": Words(
        tone="bad",
        icon="stop",
        badge=gettext_lazy("Cannot be read"),
        heading=lambda _about: _("A payment could not be worked out"),
        text=lambda about: sentences(
            f"{quoted(about.fact('error')).rstrip('.')}." if about.has("error") else "",
            _("It is tried again in every round; other payments go on."),
        ),
    ),
    "order_no_capacity": Words(
        tone="bad",
        icon="stop",
        badge=gettext_lazy("Paid, no cards"),
        heading=lambda about: _("%(total)s paid, and no such lot is free") % {"total": about.money("total")},
        text=_no_capacity_text,
    ),
    "paid_after_cancel": Words(
        tone="warn",
        icon="refund",
        badge=gettext_lazy("Paid after the end"),
        heading=lambda about: _("%(total)s came for an order that is over") % {"total": about.money("total")},
        text=lambda _about: _("Nothing is delivered for it. The money stays here until you give it back."),
    ),
    "refund_due": Words(
        tone="info",
        icon="refund",
        badge=gettext_lazy("Refund to send"),
        heading=lambda about: (
            _("Send %(amount)s %(asset)s, then enter the hash")
            % {"amount": about.token("amount"), "asset": _asset(about)}
        ),
        text=_refund_due_text,
    ),
    "refund_unverified": Words(
        tone="warn",
        icon="refund",
        badge=gettext_lazy("Refund not seen yet"),
        heading=lambda about: (
            _("%(amount)s %(asset)s were sent, and the chain does not show it")
            % {"amount": about.token("amount"), "asset": _asset(about)}
        ),
        text=_unverified_text,
    ),
}
