"""On which ways money came for an order: each leg is one asset on one network, or one payment by bank card.

A refund goes back by the leg that it came on, and never for more than the leg holds.
"""

from dataclasses import dataclass

from billing.card_amounts import decimals_of
from billing.card_facts import is_paid, newest
from billing.models import CardFact, PaymentView, Rail, Refund

# What a re-read says of money that has gone back, or is on its way.
_CARD_MONEY_OUT = ("succeeded", "pending", "requires_action")
# A dispute takes the money out until it is won.
_DISPUTE_OVER = ("won", "prevented", "warning_closed", "warning_needs_response", "warning_under_review")


@dataclass(frozen=True)
class Leg:
    """`units` have arrived for good. Bank cards only: `gone` of them left by another way than a refund of ours, and
    `pays` is false for a charge that differs from what was asked."""

    rail: str
    network: str
    chain_id: int | None
    asset: str
    contract: str
    decimals: int
    units: int
    payment_intent: str = ""
    gone: int = 0
    pays: bool = True

    @property
    def code(self) -> str:
        """Its name in keys and facts: "local:USDC", "card:pi_1"."""
        return f"card:{self.payment_intent}" if self.rail == Rail.BANK_CARD else self.book_asset

    @property
    def book_asset(self) -> str:
        """Its asset in the books."""
        return self.asset if self.rail == Rail.BANK_CARD else f"{self.network}:{self.asset}"

    def carries(self, refund: Refund) -> bool:
        """Whether this refund takes from this leg."""
        if self.rail != refund.rail:
            return False
        if self.rail == Rail.BANK_CARD:
            return self.payment_intent == refund.payment_intent
        return (self.chain_id, self.contract.lower()) == (refund.chain_id, refund.asset_contract.lower())


def legs_of(view: PaymentView) -> list[Leg]:
    """All legs on which something has arrived for good; the one that was asked for comes first. At most two queries."""
    found = [*_main(view), *_others(view), *_cards(view)]
    return [leg for leg in found if leg.units > 0]


def main_code(view: PaymentView) -> str | None:
    """The name of the leg that was asked for on chain, or None where no address was issued."""
    payment = view.payment
    return f"{payment.network}:{payment.asset}" if payment.takes_crypto else None


def left_on(leg: Leg, refunds: list[Refund]) -> int:
    """What may still go back by this leg."""
    given: int = sum(row.units for row in refunds if leg.carries(row))
    return leg.units - leg.gone - given


def _main(view: PaymentView) -> list[Leg]:
    payment = view.payment
    if not payment.takes_crypto:
        return []
    crypto = payment.crypto
    return [
        Leg(
            rail=Rail.CRYPTO,
            network=crypto.network,
            chain_id=crypto.chain_id,
            asset=crypto.asset,
            contract=crypto.contract,
            decimals=crypto.decimals,
            units=view.settled_units,
        )
    ]


def _others(view: PaymentView) -> list[Leg]:
    """Other assets, and other networks: what the view noted."""
    return [
        Leg(
            rail=Rail.CRYPTO,
            network=other["network"],
            chain_id=other["chain_id"],
            asset=other["asset"],
            contract=other["contract"],
            decimals=other["decimals"],
            units=int(other["settled_units"]),
        )
        for other in view.others
    ]


def _cards(view: PaymentView) -> list[Leg]:
    facts = list(newest(view.payment))
    if not facts:
        return []
    ours = set(
        Refund.objects.filter(payment=view.payment)
        .exclude(card_refund_id="")
        .values_list("card_refund_id", flat=True)
    )
    gone: dict[str, int] = {}
    for fact in facts:
        by_others = fact.kind == CardFact.Kind.REFUND and fact.reference not in ours
        out = (by_others and fact.status in _CARD_MONEY_OUT) or (
            fact.kind == CardFact.Kind.DISPUTE and fact.status not in _DISPUTE_OVER
        )
        if out:
            gone[fact.payment_intent] = gone.get(fact.payment_intent, 0) + fact.amount_minor
    paid = [fact for fact in facts if is_paid(fact)]
    return [
        Leg(
            rail=Rail.BANK_CARD,
            network="",
            chain_id=None,
            asset=fact.currency,
            contract="",
            decimals=decimals_of(fact.currency),
            units=fact.amount_minor,
            payment_intent=fact.payment_intent,
            gone=min(gone.get(fact.payment_intent, 0), fact.amount_minor),
            pays=not fact.problem,
        )
        for fact in sorted(paid, key=lambda fact: fact.pk)
    ]
