"""The event log of an order in plain words, newest first."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Q
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.formats import instant_text, token_text
from core.models import Audience, Event
from shop.pages.timeline_money import MONEY_WORDS

# The whole life of an order is some tens of events; a partner's loop of claims must not make a page endless.
_LIMIT = 200
# A program that logs in each minute must not push out what happened to the order; each login stays in the log.
_LOGINS = 20

Payload = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One line of the timeline."""

    at: datetime
    title: str
    text: str
    newest: bool


def timeline_of(order_ref: str) -> list[Entry]:
    """Entries that the buyer may read. Events that only repeat another one have no words and are left out."""
    all_events = Event.objects.filter(order_ref=order_ref, audience=Audience.BUYER).order_by("-id")
    logins = all_events.filter(name="lease.login").values("pk")[:_LOGINS]
    events = all_events.filter(~Q(name="lease.login") | Q(pk__in=logins))[:_LIMIT]
    told = [(event, *_WORDS[event.name](event.payload)) for event in events if event.name in _WORDS]
    return [
        Entry(at=event.at, title=title, text=text, newest=number == 0)
        for number, (event, title, text) in enumerate(told)
    ]


def _money(payload: Payload, key: str) -> str:
    value = payload.get(key)
    return token_text(Decimal(str(value))) if value is not None else ""


def _moment(payload: Payload, key: str) -> str:
    parsed = parse_datetime(str(payload.get(key, "")))
    return instant_text(parsed, style="sentence") if parsed is not None and parsed.tzinfo is not None else ""


def _placed(payload: Payload) -> tuple[str, str]:
    return _("Order placed, cards held"), ""


def _claimed(payload: Payload) -> tuple[str, str]:
    return _("You pressed “I have paid”"), ""


def _seen(payload: Payload) -> tuple[str, str]:
    if "asset" not in payload:
        return _("Payment on its way"), _("By bank card, not confirmed yet.")
    return _("Transfer seen"), _("%(received)s %(asset)s, not final yet.") % _sums(payload)


def _partial(payload: Payload) -> tuple[str, str]:
    return (
        _("Part of the payment arrived"),
        _("%(received)s %(asset)s arrived, %(still_due)s %(asset)s are still missing.") % _sums(payload),
    )


def _settled(payload: Payload) -> tuple[str, str]:
    if "card_paid" in payload:
        return _("Payment final"), _("%(paid)s %(currency)s were paid by bank card.") % {
            "paid": _money(payload, "card_paid"),
            "currency": payload.get("currency", ""),
        }
    return _("Payment final"), _("%(received)s %(asset)s can no longer be taken back.") % _sums(payload)


def _over(payload: Payload) -> tuple[str, str]:
    if "card_paid" in payload:
        return _("Paid more than once"), _("What is too much stays yours and goes back to you.")
    return _("More arrived than was asked"), _("%(over)s %(asset)s are yours.") % _sums(payload)


def _late_money(payload: Payload) -> tuple[str, str]:
    return _("Money came after the time was up"), _("It is recorded and stays yours.")


def _wrong_asset(payload: Payload) -> tuple[str, str]:
    return _("Another asset arrived"), _("It is recorded and stays yours; it does not pay the order.")


def _wrong_network(payload: Payload) -> tuple[str, str]:
    return _("Money arrived on another network"), _(
        "It is recorded and stays yours; it does not pay the order."
    )


def _dropped(payload: Payload) -> tuple[str, str]:
    if "asset" not in payload:
        return _("Your bank did not confirm the payment"), _("Nothing was charged.")
    return _("The block with your transfer was replaced"), _(
        "It usually returns by itself. Do not pay twice."
    )


def _reversed(payload: Payload) -> tuple[str, str]:
    return _("The network took back your transfer"), _("It usually returns by itself. Do not pay twice.")


def _paid(payload: Payload) -> tuple[str, str]:
    if payload.get("extends"):
        return _("Extension paid"), _("The end of the term moves as soon as the machine has confirmed it.")
    return _("Order paid"), _("Access works by %(time)s at the latest.") % {
        "time": _moment(payload, "ready_by")
    }


def _ready(payload: Payload) -> tuple[str, str]:
    return _("Access ready, term started"), _("It ends on %(time)s.") % {"time": _moment(payload, "ends_at")}


def _key_words(payload: Payload) -> str:
    words = {"fingerprint": payload.get("fingerprint", ""), "member": payload.get("member", "")}
    if words["member"]:
        return _("%(member)s, with the key %(fingerprint)s.") % words
    return _("With the key %(fingerprint)s.") % words


def _sums(payload: Payload) -> dict[str, str]:
    return {
        "asset": str(payload.get("asset", "")),
        "received": _money(payload, "received"),
        "still_due": _money(payload, "still_due"),
        "over": _money(payload, "over"),
    }


_WORDS: dict[str, Callable[[Payload], tuple[str, str]]] = {
    "order.placed": _placed,
    "payment.claimed": _claimed,
    "payment.seen": _seen,
    "payment.partial": _partial,
    "payment.settled": _settled,
    "payment.over": _over,
    "payment.late": _late_money,
    "payment.wrong_asset": _wrong_asset,
    "payment.wrong_network": _wrong_network,
    "payment.dropped": _dropped,
    "payment.reversed": _reversed,
    "order.paid": _paid,
    "lease.ready": _ready,
    "lease.preparing": lambda _payload: (
        pgettext("timeline", "Preparing"),
        _("A machine is set up for you."),
    ),
    "lease.testing": lambda _payload: (
        _("Acceptance test"),
        _("Model, number of cards, health and a login are checked against your order."),
    ),
    "lease.late": lambda _payload: (
        _("Delivery is late"),
        _("We go on; you may wait or take all of it back."),
    ),
    "lease.degraded": lambda payload: (
        # After a pause in the middle of a move there is nothing new to tell.
        (_("The move goes on"), "")
        if payload.get("moving")
        else (_("A card has a problem"), _("The time without it is credited."))
    ),
    "lease.repaired": lambda _payload: (_("The cards are whole again"), ""),
    "lease.moved": lambda _payload: (
        _("Moving to other cards"),
        _("Cards of the same kind, at the same price."),
    ),
    "lease.extended": lambda payload: (
        _("The term is longer now"),
        _("It ends on %(time)s.") % {"time": _moment(payload, "ends_at")},
    ),
    "lease.shortened": lambda payload: (
        _("An extension was taken back with its payment"),
        _("The term ends on %(time)s.") % {"time": _moment(payload, "ends_at")},
    ),
    "lease.suspended": lambda _payload: (_("Access paused"), _("Your cards and data are kept.")),
    "lease.resumed": lambda _payload: (_("The payment is final again"), ""),
    "lease.export_window": lambda _payload: (
        _("Export window open"),
        _("What matters must leave the machine before the end."),
    ),
    "lease.ending": lambda payload: (
        # Cancelled before the start: there was no access to close.
        (_("Preparation stopped"), "") if payload.get("reason") == "cancelled" else (_("Access closed"), "")
    ),
    "lease.wiping": lambda _payload: (_("The disks are being wiped"), ""),
    "lease.closed": lambda _payload: (
        pgettext("disks", "Wiped"),
        _("Nothing of yours remains on these machines."),
    ),
    "order.expired": lambda _payload: (_("The hold ended"), _("The cards are on sale again.")),
    "order.cancelled": lambda _payload: (_("Order cancelled"), ""),
    "order.failed": lambda payload: (
        (_("The order is closed"), _("Your transfer did not return to the chain."))
        if payload.get("reason") == "reversed"
        else (_("The order could not be delivered"), _("A full refund is due to you."))
    ),
    "lease.login": lambda payload: (_("Login"), _key_words(payload)),
    "lease.key_added": lambda payload: (_("Key added"), _key_words(payload)),
    "lease.key_removed": lambda payload: (_("Key removed"), _key_words(payload)),
    "lease.reminder": lambda payload: (
        _("Reminder sent"),
        _("The term ends on %(time)s.") % {"time": _moment(payload, "ends_at")},
    ),
} | MONEY_WORDS
