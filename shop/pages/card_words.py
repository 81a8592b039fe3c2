"""Words of an order page where a bank card pays: what differs from the words about a transfer."""

from collections.abc import Callable
from dataclasses import replace

from django.utils.translation import gettext as _

from billing.card_selectors import CardState, Link
from core.formats import amount_text
from shop.pages.phase import Phase
from shop.pages.wording import Words


def with_card(words: Words, phase: Phase, card: CardState | None) -> Words:
    """The words of the phase, told of a card payment where that is what the order waits for or was paid by."""
    if card is None or not _is_by_card(card) or phase not in _MAKERS:
        return words
    return _MAKERS[phase](words, card)


def _is_by_card(card: CardState) -> bool:
    return card.is_only or card.pending or bool(card.paid)


def _sums(card: CardState) -> dict[str, str]:
    return {"amount": amount_text(card.amount), "paid": amount_text(card.paid), "currency": card.currency}


def _paying(words: Words, card: CardState) -> Words:
    return replace(
        words,
        heading=_("Pay %(amount)s %(currency)s by bank card") % _sums(card),
        badge=_("Waiting for your payment"),
    )


def _seen(words: Words, card: CardState) -> Words:
    if not card.pending:
        return words
    return replace(
        words,
        heading=_("Your payment is on its way"),
        badge=_("On its way"),
        lede=_(
            "Your bank has not confirmed it yet. Nothing is left for you to do; the lot stays held meanwhile."
        ),
    )


def _final(words: Words, card: CardState) -> Words:
    if not card.paid:
        return words
    return replace(
        words, lede=_("Paid by bank card: %(paid)s %(currency)s. Your lot is prepared next.") % _sums(card)
    )


def _checking(words: Words, card: CardState) -> Words:
    if not card.is_only:
        return words
    return replace(
        words, lede=_("We ask our card processor whether your payment came through. It appears here.")
    )


def _expired(words: Words, card: CardState) -> Words:
    return words if card.paid or not card.is_only else replace(words, lede=_("Nothing was charged."))


_MAKERS: dict[Phase, Callable[[Words, CardState], Words]] = {
    Phase.PAYING: _paying,
    Phase.SEEN: _seen,
    Phase.FINAL: _final,
    Phase.CHECKING: _checking,
    Phase.EXPIRED: _expired,
}


def card_sentence(sentence: str, phase: Phase, card: CardState | None) -> str:
    """The one sentence of the live part, told of a card payment."""
    if card is None or not _is_by_card(card):
        return sentence
    if card.pending:
        return _("Your payment is on its way and not confirmed yet.")
    if card.paid:
        return _("%(paid)s %(currency)s were paid by bank card.") % _sums(card)
    if phase == Phase.CHECKING:
        return _("The time is up. We are asking our card processor.")
    if card.link == Link.OPENING:
        return _("The payment page is being opened.")
    return _("No payment yet. Once you have paid, it appears here by itself.")
