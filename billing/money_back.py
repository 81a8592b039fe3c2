"""What the refunds of a payment are worth in the selling currency: the books and the credit notes say the same."""

from decimal import Decimal

from billing.card_amounts import to_amount
from billing.counted import acceptance_of, counted_parts
from billing.ledger import LegFacts, RefundFacts
from billing.legs import legs_of
from billing.lifecycle import PaymentStatus, RefundStatus
from billing.models import PaymentView, Refund


def worth_given_back(view: PaymentView) -> Decimal:
    """The part of the price that verified refunds have given back so far, by the rule of the ledger.

    Excess was never part of the price; another asset that staff took as payment was, and is worth what it was taken
    for. Nothing where the payment is not settled.
    """
    payment = view.payment
    if view.status != PaymentStatus.SETTLED:
        return Decimal("0.00")
    refunds = list(Refund.objects.filter(payment=payment))
    done = [row for row in refunds if row.status == RefundStatus.VERIFIED]
    parts = counted_parts(view, legs_of(view), acceptance_of(payment), refunds)
    minor = sum(
        LegFacts(
            asset=part.leg.book_asset,
            network=part.leg.network,
            units=part.leg.units,
            held=part.leg.units,
            counted=part.units,
            worth=part.worth,
            refunds=[
                RefundFacts(reason=row.reason, units=row.units) for row in done if part.leg.carries(row)
            ],
        ).worth_refunded
        for part in parts
    )
    return to_amount(minor, payment.currency)
