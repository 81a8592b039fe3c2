"""Which of the money that arrived pays for the order, and what each part of it is worth."""

from collections.abc import Sequence
from dataclasses import dataclass

from billing.amounts import value_of_share
from billing.card_amounts import to_minor
from billing.ledger import OF_EXCESS
from billing.legs import Leg, left_on, main_code
from billing.models import Acceptance, PaymentRequest, PaymentView, Rail, Refund


@dataclass(frozen=True)
class Counted:
    """`units` of one leg pay `worth` minor units of the order's total."""

    leg: Leg
    units: int
    worth: int


def acceptance_of(payment: PaymentRequest) -> Acceptance | None:
    """The newest acceptance of what had arrived as payment in full."""
    return Acceptance.objects.filter(payment=payment).order_by("-id").first()


def accepted_units(acceptance: Acceptance) -> dict[str, int]:
    """Leg name -> units that were taken as payment in full."""
    return {code: int(units) for code, units in acceptance.facts.get("legs", {}).items()}


def still_stands(acceptance: Acceptance | None, legs: Sequence[Leg]) -> bool:
    """Whether what was accepted is still there: a reorg takes an accepted payment back like any other."""
    if acceptance is None:
        return False
    here = {leg.code: leg.units for leg in legs}
    return all(here.get(code, 0) >= units for code, units in accepted_units(acceptance).items())


def counted_parts(
    view: PaymentView, legs: Sequence[Leg], acceptance: Acceptance | None, refunds: Sequence[Refund]
) -> list[Counted]:
    """The parts that pay, for a payment that is settled. What is not among them is excess.

    Paid in full on chain and by card, the chain's money counts and the card's goes back, unless the chain's was
    given back already.
    """
    total = to_minor(view.payment.amount, view.payment.currency)
    if acceptance is not None and still_stands(acceptance, legs):
        return _accepted(view, legs, acceptance, total)
    main = next((leg for leg in legs if leg.code == main_code(view)), None)
    cards = [leg for leg in legs if leg.rail == Rail.BANK_CARD and leg.pays]
    card_covers = sum(leg.units for leg in cards) >= total
    if main is not None and _covers(view, main) and not (card_covers and _is_given_back(main, refunds)):
        due = view.payment.crypto.due_units
        return [Counted(main, due, total)]
    return _by_card(cards, total) if card_covers else []


def excess_on(leg: Leg, pays: int, refunds: Sequence[Refund]) -> int:
    """Units of a leg that are too much and were not given back, where `pays` of them pay for the order."""
    given: int = sum(row.units for row in refunds if leg.carries(row) and row.reason in OF_EXCESS)
    return min(left_on(leg, list(refunds)), leg.units - leg.gone - pays - given)


def _covers(view: PaymentView, main: Leg) -> bool:
    due = view.payment.crypto.due_units
    on_time = view.on_time_units >= due
    # What a card did not pay was paid on chain: a sum that came back after a reorg has no deadline.
    return main.units >= due and (on_time or view.card_minor == 0)


def _is_given_back(main: Leg, refunds: Sequence[Refund]) -> bool:
    return any(main.carries(row) and row.reason == Refund.Reason.PAID_TWICE for row in refunds)


def _by_card(cards: Sequence[Leg], total: int) -> list[Counted]:
    parts, missing = [], total
    for leg in cards:
        units = min(leg.units, missing)
        missing -= units
        if units:
            parts.append(Counted(leg, units, units))
    return parts


def _accepted(view: PaymentView, legs: Sequence[Leg], acceptance: Acceptance, total: int) -> list[Counted]:
    """The asked asset at the payment's own rate, a card at its face; another asset is worth what staff took it for:
    all that was still missing."""
    units = accepted_units(acceptance)
    main = main_code(view)
    parts: list[Counted] = []
    missing = total
    taken = [leg for leg in legs if units.get(leg.code, 0) > 0]
    for leg in sorted(taken, key=lambda leg: leg.code != main and leg.rail != Rail.BANK_CARD):
        if leg.code == main:
            worth = value_of_share(units[leg.code], of_units=view.payment.crypto.due_units, worth=total)
        elif leg.rail == Rail.BANK_CARD:
            worth = units[leg.code]
        else:
            worth = missing
        worth = min(worth, missing)
        missing -= worth
        parts.append(Counted(leg, units[leg.code], worth))
    return parts
