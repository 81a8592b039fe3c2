"""What a click will do, in figures: read anew at the moment of asking, not from what was known when it was opened."""

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.utils.translation import gettext as _

from billing.models import Rail, Refund
from billing.money_left import Left, money_left, view_of
from billing.services.money_decisions import WRONG_LEGS, goes_back
from billing.services.refund import amount_of
from core import clock
from core.admin_actions import Fact
from core.formats import instant_text, token_text
from desk.about import About
from fleet import selectors


def facts_of(about: About, action: str) -> list[Fact]:
    """Whom and what it concerns, then what this action moves."""
    tell = _TELLS.get(action)
    return [*_concerned(about), *(tell(about) if tell is not None else [])]


def _concerned(about: About) -> list[Fact]:
    facts: list[Fact] = []
    if about.order is not None:
        facts.append((_("Order"), f"{about.order.public_id} · {about.buyer}"))
    elif about.decision.order_ref:
        facts.append((_("Order"), about.decision.order_ref))
    if about.lease is not None:
        facts.append((_("Lease"), f"{about.lease.username} · {about.machine}"))
    return facts


def _goes_to(left: Left) -> str:
    if left.leg.rail == Rail.BANK_CARD:
        return _("the card that it came from (%(payment)s)") % {"payment": left.leg.payment_intent}
    return _("an address on %(network)s that the buyer names") % {"network": left.leg.network}


def _amount(left: Left, *, over: bool = False) -> str:
    return f"{token_text(left.over if over else left.amount)} {left.leg.asset}"


def _asked(about: About) -> list[Fact]:
    view = view_of(about.decision.order_ref)
    if view is None:
        return []
    if not view.payment.takes_crypto:
        return [(_("Price"), f"{token_text(view.payment.amount)} {view.payment.currency}")]
    crypto = view.payment.crypto
    return [(_("Asked"), f"{about.token('asked') or '?'} {crypto.asset} · {crypto.network}")]


def _accept(about: About) -> list[Fact]:
    return [
        *_asked(about),
        *((_("Counts as payment"), _amount(left)) for left in money_left(about.decision.order_ref)),
    ]


def _refund(about: About) -> list[Fact]:
    view = view_of(about.decision.order_ref)
    found = money_left(about.decision.order_ref)
    if about.decision.kind in WRONG_LEGS and view is not None and about.order is not None:
        kind = about.decision.kind
        found = [left for left in found if goes_back(about.order, left.leg, view, kind)]
    return _moves(found, over=False)


def _refund_excess(about: About) -> list[Fact]:
    return _moves([left for left in money_left(about.decision.order_ref) if left.over > 0], over=True)


def _moves(found: list[Left], *, over: bool) -> list[Fact]:
    if not found:
        return [(_("Goes back"), _("nothing that is final"))]
    facts: list[Fact] = []
    for left in found:
        facts += [(_("Goes back"), _amount(left, over=over)), (_("To"), _goes_to(left))]
    return facts


def _refund_row(about: About) -> Refund | None:
    number = about.decision.subject.removeprefix("refund:")
    if not (number.isascii() and number.isdigit()):
        return None
    return Refund.objects.select_related("order").filter(pk=int(number)).first()


def _sent(about: About) -> list[Fact]:
    row = _refund_row(about)
    if row is None:
        return []
    return [
        (_("Amount"), f"{token_text(amount_of(row))} {row.asset}"),
        (_("Network"), row.network),
        (_("Destination"), row.destination),
    ]


def _send_again(about: About) -> list[Fact]:
    row = _refund_row(about)
    if row is None:
        return []
    return [
        (_("Amount"), f"{token_text(amount_of(row))} {row.asset}"),
        (_("To"), _("the card that it came from (%(payment)s)") % {"payment": row.payment_intent}),
    ]


def _refund_now(about: About) -> list[Fact]:
    return [(_("Delivery"), _("given up, the order fails")), *_refund(about)]


def _offer(about: About) -> list[Fact]:
    until = clock.now() + timedelta(seconds=settings.LATE_OFFER_SECONDS)
    facts: list[Fact] = []
    if about.order is not None:
        quote = about.order.quote
        facts.append((_("Held"), f"{quote.lots} × {quote.lot.cards} {quote.lot.accelerator.name}"))
    return [*facts, (_("Until"), instant_text(until))]


def _cards(about: About) -> list[Fact]:
    if about.lease is None:
        return []
    cards = selectors.cards_of_hold(about.lease.hold_id)
    return [(_("Cards now"), ", ".join(card.serial for card in cards))]


def _given(*pairs: "tuple[str, Callable[[], str]]") -> Callable[[About], list[Fact]]:
    def tell(about: About) -> list[Fact]:
        return [(label(), about.fact(name)) for name, label in pairs if about.has(name)]

    return tell


_TELLS: dict[str, Callable[[About], list[Fact]]] = {
    "accept": _accept,
    "refund": _refund,
    "refund_excess": _refund_excess,
    "sent": _sent,
    "send_again": _send_again,
    "refund_now": _refund_now,
    "offer": _offer,
    "take_other_cards": _cards,
    "move_to_whole_cards": _cards,
    "card_is_sound": _given(("serial", lambda: _("Card")), ("node", lambda: _("Node"))),
    "resume": _given(("partner", lambda: _("Partner")), ("url", lambda: _("Address"))),
    "send_mail": _given(("to", lambda: _("To")), ("subject", lambda: _("Subject"))),
    "try_again": _given(("event", lambda: _("Event")), ("handler", lambda: _("Handler"))),
    "take_down": _given(("lease", lambda: _("Machine"))),
}
