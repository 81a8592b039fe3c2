"""Notices of an order page: what differs from the plain way, whose decision it is, until when."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from billing.lifecycle import PaymentFlag, PaymentStatus
from billing.models import Refund
from billing.selectors import PaymentState
from core.formats import instant_text, token_text
from shop.pages.order_money import MoneyPart
from shop.pages.phase import CLOSED, MOVING, Phase
from shop.pages.settling import other_arrived


@dataclass(frozen=True)
class Notice:
    """One box: colour, icon, heading, text."""

    tone: str
    icon: str
    title: str
    text: str


def notices_for(payment: PaymentState | None, phase: Phase, money: MoneyPart | None) -> list[Notice]:
    """In the order in which they are read. What the part about refunds and choices says is not said twice."""
    if payment is None:
        return []
    return [*_chain(payment, phase), *_money(payment, phase, money)]


def _chain(payment: PaymentState, phase: Phase) -> list[Notice]:
    waits = phase in MOVING and payment.status != PaymentStatus.SETTLED
    if payment.chain_silent_since is None or not waits:
        return []
    return [
        Notice(
            "warn",
            "clock",
            _("The chain has not answered since %(time)s")
            % {"time": instant_text(payment.chain_silent_since, style="seconds")},
            _("We keep asking. Nothing is closed as unpaid meanwhile."),
        )
    ]


def _late(payment: PaymentState, words: dict[str, str], *, is_answered: bool) -> list[Notice]:
    sentences = []
    if payment.on_time and payment.late:
        sentences.append(_("%(on_time)s %(asset)s came in time, %(late)s %(asset)s after it.") % words)
    if not is_answered:
        sentences.append(_("It is recorded and stays yours. A person decides with you what happens next."))
    if not sentences:
        return []
    return [Notice("warn", "clock", _("Your money came after the time was up"), " ".join(sentences))]


def _elsewhere(payment: PaymentState, money: MoneyPart | None) -> list[Notice]:
    """Another asset, another network: each by name, as one letter decides between them (C36)."""
    titles = {True: _("Another asset arrived at this address"), False: _("Money arrived on another network")}
    rest = _("It does not pay the order and stays yours. A person decides with you what happens with it.")
    if money is not None and money.gives_back(Refund.Reason.WRONG_ASSET, Refund.Reason.WRONG_NETWORK):
        rest = _("It goes back to you; each step is shown below.")
    elif PaymentFlag.BY_HAND in payment.flags:
        rest = _("A person has decided on it; the order goes on.")
    return [
        Notice(
            "warn",
            "warn",
            titles[other.is_here],
            f"{other_arrived(other, asked=payment.asset, network=payment.network_name)} {rest}",
        )
        for other in payment.others
    ]


def _money(payment: PaymentState, phase: Phase, money: MoneyPart | None) -> list[Notice]:
    words = {
        "asset": payment.asset,
        "excess": token_text(payment.excess),
        "late": token_text(payment.late),
        "on_time": token_text(payment.on_time),
    }
    found = []
    is_answered = money is not None and money.is_settled
    goes_back = money is not None and money.gives_back(Refund.Reason.EXCESS, Refund.Reason.PAID_TWICE)
    if PaymentFlag.OVER in payment.flags and phase not in CLOSED and not goes_back:
        text = _("The order goes on. The excess is yours; a person sends it back and it appears here.")
        title = _("%(excess)s %(asset)s too much") % words
        if not payment.excess:
            title = _("Paid twice")
            text = _("It counts once. The other payment is yours and goes back to you; it appears here.")
        found.append(Notice("info", "refund", title, text))
    if PaymentFlag.LATE in payment.flags and phase not in (Phase.PREPARING, Phase.ACTIVE):
        found += _late(payment, words, is_answered=is_answered)
    found += _elsewhere(payment, money)
    # A paused or closed order says it in its first sentence.
    is_told = phase in (Phase.SUSPENDED, Phase.FAILED)
    if PaymentFlag.DROPPED in payment.flags and payment.status != PaymentStatus.SETTLED and not is_told:
        text = _("It usually returns by itself. Do not pay twice.")
        found.append(Notice("bad", "refund", _("The block with your transfer was replaced"), text))
    return found
