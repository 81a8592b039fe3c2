"""Decisions about the ways on which money comes: bank cards, networks, prices, addresses, documents."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from desk.about import About
from desk.decision_words.said import Words, quoted, sentences


def _processor(about: About) -> str:
    """Where to look it up at the card processor."""
    reference = about.fact("reference") or about.fact("session") or about.fact("payment_intent")
    return _("At the card processor: %(reference)s.") % {"reference": reference} if reference else ""


def _why(about: About) -> str:
    why = about.fact("why") or about.fact("reason") or about.fact("error")
    return _("Reason: %(why)s.") % {"why": quoted(why).rstrip(".")} if why else ""


def _prices(about: About) -> str:
    found = ", ".join(f"{source}: {value}" for source, value in sorted(about.decision.facts.items()))
    return sentences(
        f"{quoted(found)}." if found else "",
        _(
            "Payment in this coin is not offered meanwhile; other assets are. Closes when two sources agree again."
        ),
    )


def _session_heading(about: About) -> str:
    if about.has("amount_minor"):
        return _("No bank-card page for %(amount)s could be opened") % {"amount": about.minor()}
    return _("A bank-card payment cannot be read")


RAILS: dict[str, Words] = {
    "card_mismatch": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Bank card differs"),
        heading=lambda about: (
            _("A bank card was charged otherwise than asked: %(why)s") % {"why": about.fact("why")}
            if about.has("why")
            else _("A bank card was charged otherwise than asked")
        ),
        text=lambda about: sentences(_processor(about), _("It does not pay the order.")),
    ),
    "card_refund_failed": Words(
        tone="bad",
        icon="refund",
        badge=gettext_lazy("Card refund failed"),
        heading=lambda about: _("%(amount)s could not go back to the card") % {"amount": about.minor()},
        text=lambda about: sentences(
            _why(about), _processor(about), _("The buyer has been told. Nothing is tried again by itself.")
        ),
    ),
    "card_dispute": Words(
        tone="bad",
        icon="warn",
        badge=gettext_lazy("Disputed charge"),
        heading=lambda about: _("%(amount)s are disputed by the cardholder") % {"amount": about.minor()},
        text=lambda about: sentences(
            _processor(about), _("Answer it there before its deadline. The lease goes on until you end it.")
        ),
    ),
    "card_refunded_elsewhere": Words(
        tone="info",
        icon="refund",
        badge=gettext_lazy("Refund not by us"),
        heading=lambda about: _("%(amount)s went back at the card processor") % {"amount": about.minor()},
        text=lambda about: sentences(
            _processor(about), _("The books count it. See whether the order should still run.")
        ),
    ),
    "card_session_failed": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Bank card fails"),
        heading=_session_heading,
        text=lambda about: sentences(
            _why(about), _("The buyer sees that and may pay in another way while the cards are held.")
        ),
    ),
    "card_event_unknown": Words(
        tone="info",
        icon="info",
        badge=gettext_lazy("Unknown event"),
        heading=lambda about: (
            _("The card processor told of something unknown: %(event)s")
            % {"event": about.fact("event") or about.name}
        ),
        text=lambda about: sentences(_why(about), _("No order of ours fits. Look it up at the processor.")),
    ),
    "invoice_failing": Words(
        tone="warn",
        icon="doc",
        badge=gettext_lazy("Invoice not made"),
        heading=lambda about: (
            _("The PDF of %(number)s cannot be made") % {"number": about.fact("number") or about.name}
        ),
        text=lambda about: sentences(_why(about), _("It is tried again every hour.")),
    ),
    "seller_missing": Words(
        tone="bad",
        icon="doc",
        badge=gettext_lazy("No seller"),
        heading=lambda _about: _("No invoice can be issued: the imprint is missing"),
        text=lambda about: (
            _("Set %(setting)s. Paid orders that wait get their invoices by themselves then.")
            % {"setting": about.fact("setting") or "IMPRINT_FILE"}
        ),
    ),
    "network_missing": Words(
        tone="warn",
        icon="coin",
        badge=gettext_lazy("Network gone"),
        heading=lambda about: (
            _("Payments name %(network)s, and the networks file does not")
            % {"network": about.fact("network") or about.name}
        ),
        text=lambda about: sentences(
            _("Asset %(contract)s.") % {"contract": about.fact("contract")} if about.has("contract") else "",
            _("Money that comes there is not seen. Closes when the file names it again."),
        ),
    ),
    "address_with_history": Words(
        tone="info",
        icon="eye",
        badge=gettext_lazy("Address skipped"),
        heading=lambda about: (
            _("A new deposit address has a history on %(network)s") % {"network": about.fact("network")}
        ),
        text=lambda about: sentences(
            _("%(address)s, index %(index)s.")
            % {"address": about.fact("address"), "index": about.fact("index")},
            _("It is never given to a buyer. See whether the same keys are used elsewhere."),
        ),
    ),
    "network_not_offered": Words(
        tone="bad",
        icon="coin",
        badge=gettext_lazy("Network differs"),
        heading=lambda about: _("%(network)s is not what the networks file says") % {"network": about.name},
        text=lambda about: sentences(
            _why(about), _("Payment there is not offered until both agree; other networks go on.")
        ),
    ),
    "endpoints_disagree": Words(
        tone="warn",
        icon="warn",
        badge=gettext_lazy("Endpoints disagree"),
        heading=lambda about: _("Two endpoints of %(network)s answer differently") % {"network": about.name},
        text=lambda about: sentences(
            _why(about), _("Settlement there is paused, and no order expires meanwhile.")
        ),
    ),
    "price_unusable": Words(
        tone="warn",
        icon="coin",
        badge=gettext_lazy("No price"),
        heading=lambda about: (
            _("The price of %(coin)s cannot be used") % {"coin": about.name.rpartition(":")[2]}
        ),
        text=_prices,
    ),
}
