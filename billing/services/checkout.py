"""The checkout: one transaction that places the order, holds the cards and opens a payment request."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing import card_offer, locks, pool
from billing.lifecycle import PaymentStatus
from billing.models import PaymentRequest, PaymentView, Rail
from billing.offers import CryptoOffer, chosen_offer, is_offered, networks
from billing.services.want_card_session import SHORTEST, add_session
from core.errors import Invalid, Unavailable
from core.rows import insert
from fleet.contention import Patience
from fleet.limits import HoldLimits
from orders.lifecycle import OrderStatus
from orders.models import Order
from orders.services.cancel import cancel
from orders.services.place import PlaceRequest, place

# Watched closely for a day after the expiry (policy table), then once a day for ever.
CLOSE_WATCH = timedelta(hours=24)


@dataclass(frozen=True)
class CryptoChoice:
    """To be paid in one asset on one network."""

    network: str
    asset: str


@dataclass(frozen=True)
class BankCardChoice:
    """To be paid by bank card, at the processor's own page."""


PaymentChoice = CryptoChoice | BankCardChoice


@dataclass(frozen=True)
class CheckoutRequest:
    """The acceptance of a quote and the way of paying. `replaces` is the buyer's own unpaid order, if any."""

    place: PlaceRequest
    pay_with: PaymentChoice
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
    orders.place and fleet.hold raise, Invalid(unknown_rail), Refusal(card_amount), Unavailable(payment_unavailable).
    A repeat for the same quote raises QuoteAccepted with the order that is there.
    """
    with transaction.atomic():
        patience = Patience()
        if request.replaces is not None:
            _cancel_replaced(request.replaces, owner=request.place.owner, patience=patience)
        order = place(request.place, hold_for=hold_for(request.pay_with), patience=patience)
        open_payment(order, request.pay_with)
    return order


def hold_for(pay_with: PaymentChoice) -> timedelta:
    """How long cards are held: a card session must fit in (policy table, "hold")."""
    usual = timedelta(seconds=settings.HOLD_SECONDS)
    return max(usual, SHORTEST) if isinstance(pay_with, BankCardChoice) else usual


def open_payment(order: Order, pay_with: PaymentChoice) -> PaymentRequest:
    """Open the payment of an order, or of an extension, in the transaction that placed it."""
    if isinstance(pay_with, BankCardChoice):
        return _open_card_payment(order)
    return _open_payment(order, _offer(pay_with))


def _open_card_payment(order: Order) -> PaymentRequest:
    quote = order.quote
    card_offer.require_card(quote.total, quote.currency)
    payment = PaymentRequest.objects.create(
        order=order,
        rail=Rail.BANK_CARD,
        amount=quote.total,
        currency=quote.currency,
        opened_at=order.placed_at,
        expires_at=order.hold_expires_at,
    )
    PaymentView.objects.create(payment=payment, watch_until=payment.expires_at + CLOSE_WATCH)
    add_session(payment, language=order.contact_language, expires_at=payment.expires_at)
    return payment


def _offer(choice: CryptoChoice) -> CryptoOffer:
    offer = chosen_offer(network=choice.network, asset=choice.asset)
    if offer is not None:
        return offer
    network = networks().get(choice.network)
    if network is None or choice.asset not in {asset.symbol for asset in network.assets}:
        raise Invalid(code="unknown_rail", message=_("This way of paying is not offered."), field="pay_with")
    raise _not_now()


def _not_now() -> Unavailable:
    return Unavailable(
        code="payment_unavailable",
        message=_("This way of paying is not available at this moment. Nothing is held."),
        field="pay_with",
    )


def _open_payment(order: Order, offer: CryptoOffer) -> PaymentRequest:
    quote = order.quote
    try:
        address, clean_at = pool.take(network=offer.network.slug)
    except Unavailable as refusal:
        if not is_offered(offer.network.slug):
            raise _not_now() from refusal
        raise
    payment = PaymentRequest(
        order=order,
        network=offer.network.slug,
        chain_id=offer.network.chain_id,
        asset=offer.asset.symbol,
        asset_contract=offer.asset.contract or "",
        decimals=offer.asset.decimals,
        due_units=offer.due_units(quote.total),
        rate=offer.rate,
        rate_source=offer.rate_source,
        rate_at=offer.rate_at or order.placed_at,
        amount=quote.total,
        currency=quote.currency,
        address=address,
        from_block=clean_at + 1,
        opened_at=order.placed_at,
        expires_at=order.hold_expires_at,
    )
    insert(payment, PaymentView(payment=payment, watch_until=payment.expires_at + CLOSE_WATCH))
    return payment


def _cancel_replaced(order_id: str, *, owner: str, patience: Patience) -> None:
    """The buyer's own order that he changes: cancelled and its cards let go first, if no money was seen for it."""
    with patience.bounds():
        found = locks.payment_for_update(order_id)
    if found is None:
        return
    order, view = found
    has_money = view.received_units or view.card_minor or view.status != PaymentStatus.AWAITING
    if order.owner == owner and order.status == OrderStatus.AWAITING_PAYMENT and not has_money:
        cancel(order_id=order_id, actor="buyer", reason="changed by the buyer")
