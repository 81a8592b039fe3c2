"""What the books must say of one order, given its facts. Pure: the same facts give the same positions.

Debit is positive, credit negative; every asset adds up to zero. Posting books the difference to what was booked
before (billing.services.post), so that reorgs, repeats and corrections are right by construction.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from billing.amounts import value_of_share
from billing.models import Refund

RECEIVABLE = "receivable"
CARD_CLEARING = "card_clearing"
COLLECTED = "collected"  # moved on from a deposit address by the operator
EXCHANGE = "exchange"  # a coin that paid, against its worth in the selling currency
DEFERRED = "deferred_revenue"
EARNED = "earned_revenue"
TAX = "tax"
REFUNDS_DUE = "refunds_due"
REFUNDS_PAID = "refunds_paid"  # went out of a wallet of the operator's, not of a deposit address
EXCESS = "excess"
UNDER_DECISION = "under_decision"
CREDITS = "credits"  # revenue given back for what was not delivered or not used
CREDITS_DUE = "credits_due"
WRITE_OFF = "write_off"

# Reasons that give back what never paid for the order; all others take from what did.
OF_EXCESS = frozenset(
    {
        Refund.Reason.EXCESS,
        Refund.Reason.PAID_TWICE,
        Refund.Reason.WRONG_ASSET,
        Refund.Reason.WRONG_NETWORK,
        Refund.Reason.LATE_MONEY,
        Refund.Reason.PARTIAL,
        Refund.Reason.BY_HAND,
    }
)


def deposits(network: str) -> str:
    """The account of what lies at deposit addresses of one network."""
    return f"deposits:{network}"


class Line(NamedTuple):
    """One account in one asset; `day` only for revenue."""

    account: str
    asset: str
    day: date | None = None


@dataclass(frozen=True)
class RefundFacts:
    """`paid` is what a movement showed, None until there is one."""

    reason: str
    units: int
    paid: int | None = None


@dataclass(frozen=True)
class LegFacts:
    """Money on one leg. `held` still lies where it arrived; `counted` of it pays the order and is `worth` so many
    minor units of the selling currency."""

    asset: str
    network: str
    units: int
    held: int
    gone: int = 0
    counted: int = 0
    worth: int = 0
    refunds: Sequence[RefundFacts] = ()

    @property
    def is_card(self) -> bool:
        return not self.network

    @property
    def refunded(self) -> int:
        return sum(row.units for row in self.refunds)

    @property
    def refunded_of_counted(self) -> int:
        """Refunds of excess take from the excess first; what is more, and all others, from what paid."""
        of_excess = sum(row.units for row in self.refunds if row.reason in OF_EXCESS)
        beside = max(0, self.units - self.counted)
        return min(self.counted, self.refunded - min(beside, of_excess)) if self.counted else 0

    @property
    def worth_refunded(self) -> int:
        if not self.counted:
            return 0
        return value_of_share(self.refunded_of_counted, of_units=self.counted, worth=self.worth)


@dataclass(frozen=True)
class OrderFacts:
    """All that the books need to know of one order; amounts in minor units of `currency`.

    `is_open`: it waits for its money. `counts`: it was paid, and its money is revenue. `earned` is what each day of
    the term has earned so far, `credited` what outages are worth and no refund was opened for yet.
    """

    currency: str
    total: int
    tax: int
    is_open: bool
    counts: bool
    legs: Sequence[LegFacts] = ()
    earned: Sequence[tuple[date, int]] = ()
    credited: int = 0
    written_off: int = 0


def worth_of(leg: LegFacts, refunds: Sequence[RefundFacts]) -> int:
    """What these refunds of a leg are worth in minor units of the selling currency."""
    units = sum(row.units for row in refunds)
    return value_of_share(units, of_units=leg.counted, worth=leg.worth) if leg.counted else 0


@dataclass
class _Sheet:
    lines: Counter[Line] = field(default_factory=Counter)

    def add(self, account: str, asset: str, units: int, day: date | None = None) -> None:
        self.lines[Line(account, asset, day)] += units


def positions(facts: OrderFacts) -> dict[Line, int]:
    """Every account that is not empty. Adds up to zero in each asset."""
    sheet = _Sheet()
    for leg in facts.legs:
        _book_leg(sheet, leg, facts)
    if facts.counts:
        _book_sale(sheet, facts)
    elif facts.is_open:
        sheet.add(RECEIVABLE, facts.currency, facts.total)
        sheet.add(DEFERRED, facts.currency, facts.tax - facts.total)
        sheet.add(TAX, facts.currency, -facts.tax)
    return {line: units for line, units in sheet.lines.items() if units}


def _book_leg(sheet: _Sheet, leg: LegFacts, facts: OrderFacts) -> None:
    asset = leg.asset
    paid = sum(row.paid for row in leg.refunds if row.paid is not None)
    due = sum(row.units for row in leg.refunds if row.paid is None)
    surplus = paid - (leg.refunded - due)
    if leg.is_card:
        sheet.add(CARD_CLEARING, asset, leg.units - leg.gone - paid)
        sheet.add(WRITE_OFF, asset, leg.gone)
    else:
        sheet.add(deposits(leg.network), asset, leg.held)
        sheet.add(COLLECTED, asset, leg.units - leg.held)
        sheet.add(REFUNDS_PAID, asset, -paid)
    # Sent more than was due: the operator's own loss.
    sheet.add(WRITE_OFF, asset, surplus)
    sheet.add(REFUNDS_DUE, asset, -due)
    if not facts.counts:
        sheet.add(UNDER_DECISION, asset, leg.refunded - leg.units)
        return
    kept = leg.counted - leg.refunded_of_counted
    sheet.add(EXCESS, asset, kept + leg.refunded - leg.units)
    if leg.is_card:
        return  # the same currency: it stands against the revenue itself
    sheet.add(EXCHANGE, asset, -kept)
    sheet.add(EXCHANGE, facts.currency, leg.worth - leg.worth_refunded)


def _book_sale(sheet: _Sheet, facts: OrderFacts) -> None:
    currency = facts.currency
    refunded = sum(leg.worth_refunded for leg in facts.legs)
    # The tax goes back with its part of the price.
    tax_back = value_of_share(refunded, of_units=facts.total, worth=facts.tax) if facts.total else 0
    sheet.add(WRITE_OFF, currency, facts.written_off)
    sheet.add(TAX, currency, tax_back - facts.tax)
    sheet.add(CREDITS, currency, refunded - tax_back + facts.credited)
    sheet.add(CREDITS_DUE, currency, -facts.credited)
    earned = sum(amount for _, amount in facts.earned)
    for day, amount in facts.earned:
        sheet.add(EARNED, currency, -amount, day)
    sheet.add(DEFERRED, currency, earned - (facts.total - facts.tax))
