"""Words of an order page once money goes back or is the buyer's to decide: what the first sentence then says."""

from dataclasses import replace

from django.utils.translation import gettext as _

from billing.selectors import PaymentState
from core.formats import instant_text, token_text
from shop.pages.order_money import MoneyPart
from shop.pages.phase import CLOSED, Phase
from shop.pages.wording import Words


def with_money(words: Words, phase: Phase, payment: PaymentState | None, money: MoneyPart | None) -> Words:
    """The words of a closed order, told of the choice that is open or of the refunds that there are."""
    if money is None or payment is None or phase not in CLOSED:
        return words
    if money.offered_until is not None:
        return Words(
            heading=_("Your money arrived, a lot is kept for you"),
            badge=_("Your choice is needed"),
            tone="warn",
            icon="warn",
            lede=_("Take the lot by %(time)s, or all of your money back. The choice is below.")
            % {"time": instant_text(money.offered_until, style="sentence")},
        )
    if money.looks_for_lot:
        return Words(
            heading=_("Your money arrived, the cards are gone"),
            badge=_("Your choice is needed"),
            tone="warn",
            icon="warn",
            lede=_(
                "%(received)s %(asset)s arrived and are yours: another lot at the same price, or all of it back. "
                "What is possible now is below."
            )
            % {"received": token_text(payment.received), "asset": payment.asset},
        )
    return _refunded(words, phase, money) if money.refunds else words


def _refunded(words: Words, phase: Phase, money: MoneyPart) -> Words:
    if phase == Phase.NO_CAPACITY:
        # There is no choice any more.
        words = replace(words, badge=_("Money goes back"), tone="info", icon="refund")
    if all(line.is_done for line in money.refunds):
        return replace(words, lede=_("What was due back to you has arrived. The refund is below."))
    if any(line.asks_address for line in money.refunds):
        return replace(
            words, lede=_("Your money goes back to you. We need your address for it; name it below.")
        )
    return replace(words, lede=_("Your money goes back to you. Each step is shown below."))
