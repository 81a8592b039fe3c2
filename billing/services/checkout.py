"""The checkout: one transaction that places the order, holds the cards and opens a payment request."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing import locks, pool
from billing.models import PaymentRequest, PaymentView
from billing.offers import CryptoOffer, crypto_offers, networks
from core import outbox
from core.errors import Invalid, Unavailable
from core.money import amount_to_units
from fleet.limits import HoldLimits
from orders.lifecycle import OrderStatus
from orders.models import Order
from orders.services.cancel import cancel
from orders.services.place import PlaceRequest, place

# Watched closely for a day after the expiry (policy table), then once a day for ever.
CLOSE_WATCH = timedelta(hours=24)


@dataclass(frozen=True)
class CryptoChoice:
    """What the buyer wants to pay with."""

    network: str
    asset: str


@dataclass(frozen=True)
class CheckoutRequest:
    """The acceptance of a quote and the way of paying. `replaces` is the buyer's own unpaid order, if any."""

    place: PlaceRequest
    pay_with: CryptoChoice
    replaces: str | None = None


def anonymous_limits() -> HoldLimits:
    """Bounds of a browser without account (policy table, "holds")."""
    return HoldLimits(
        orders_per_owner=settings.HOLD_ORDERS_PER_OWNER,
        cards_per_owner=settings.HOLD_CARDS_PER_OWNER,
        orders_per_prefix=settings.HOLD_ORDERS_PER_PREFIX,
    )


def checkout(request: CheckoutRequest) -> Order:
    """Place, hold and open the payment, or nothing at all.

    Locks the replaced order, quote, what fleet.hold locks, last one pooled address (SKIP LOCKED). Raises what
    orders.place and fleet.hold raise, Invalid(unknown_rail), Unavailable(payment_unavailable). A repeat for the
    same quote raises QuoteAccepted with the order that is there.
    """
    with transaction.atomic():
        if request.replaces is not None:
            _cancel_replaced(request.replaces, owner=request.place.owner)
        order = place(request.place, hold_for=timedelta(seconds=settings.HOLD_SECONDS))
        _open_payment(order, _offer(request.pay_with))
    outbox.hint("billing.fill_pool")
    return order


def _offer(choice: CryptoChoice) -> CryptoOffer:
    for offer in crypto_offers():
        if (offer.network.slug, offer.asset.symbol) == (choice.network, choice.asset):
            return offer
    network = networks().get(choice.network)
    if network is None or choice.asset not in {asset.symbol for asset in network.assets}:
        raise Invalid(code="unknown_rail", message=_("This way of paying is not offered."), field="pay_with")
    raise Unavailable(
        code="payment_unavailable",
        message=_("This way of paying is not available at this moment. Nothing is held."),
        field="pay_with",
    )


def _open_payment(order: Order, offer: CryptoOffer) -> PaymentRequest:
    quote = order.quote
    if offer.asset.price is None or offer.asset.contract is None:
        raise Invalid(code="unknown_rail", message=_("This asset cannot be paid with."), field="pay_with")
    address, check = pool.take(network=offer.network.slug)
    due = amount_to_units(Decimal(quote.total) / offer.asset.price, offer.asset.decimals)
    payment = PaymentRequest.objects.create(
        order=order,
        network=offer.network.slug,
        chain_id=offer.network.chain_id,
        asset=offer.asset.symbol,
        asset_contract=offer.asset.contract,
        decimals=offer.asset.decimals,
        due_units=due,
        amount=quote.total,
        currency=quote.currency,
        address=address,
        from_block=check.block_number + 1,
        opened_at=order.placed_at,
        expires_at=order.hold_expires_at,
    )
    PaymentView.objects.create(payment=payment, watch_until=payment.expires_at + CLOSE_WATCH)
    return payment


def _cancel_replaced(order_id: str, *, owner: str) -> None:
    """The buyer's own order that he changes: cancelled and its cards let go first, if no money was seen for it."""
    found = locks.payment_for_update(order_id)
    if found is None:
        return
    order, view = found
    if order.owner == owner and order.status == OrderStatus.AWAITING_PAYMENT and view.received_units == 0:
        cancel(order_id=order_id, actor="buyer", reason="changed by the buyer")
