"""A partner accepts a quote, for a customer or for himself: the checkout of the pages, and whose the order is."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing.services.checkout import CheckoutRequest, PaymentChoice, checkout
from catalog.tax import BillTo
from core.errors import Conflict
from fleet.keys import PublicKey
from orders.contact import Contact
from orders.models import Order
from orders.services.place import PlaceRequest, QuoteAccepted
from partners.limits import limits_of
from partners.models import Partner, PartnerOrder


@dataclass(frozen=True)
class OrderRequest:
    """What the partner sent, cleaned. `bill_to` None: as the quote says. `notify`: whom we write to."""

    quote_id: str
    contact: Contact
    bill_to: BillTo | None
    keys: Sequence[PublicKey]
    pay_with: PaymentChoice
    terms_version: str
    notify: str
    metadata: dict[str, str]


def place_order(*, partner: Partner, request: OrderRequest) -> Order:
    """The order and whose it is, or nothing. Locks and raises what billing's checkout does.

    A quote that somebody else has used is `quote_accepted` too, without the name of an order that is not his.
    """
    to_partner = request.notify == Order.Notify.PARTNER
    place = PlaceRequest(
        quote_id=request.quote_id,
        owner=partner.owner,
        prefix="",
        limits=limits_of(partner),
        contact=request.contact,
        bill_to=request.bill_to,
        keys=request.keys,
        terms_version=request.terms_version,
        mail_to=partner.mail if to_partner else request.contact.email,
        mail_language=partner.mail_language if to_partner else request.contact.language,
        notify=request.notify,
    )
    with transaction.atomic():
        try:
            order = checkout(CheckoutRequest(place=place, pay_with=request.pay_with))
        except QuoteAccepted as refusal:
            if PartnerOrder.objects.filter(order=refusal.order, partner=partner).exists():
                raise
            raise Conflict(
                code="quote_accepted", message=_("This quote was already used."), field="quote"
            ) from None
        PartnerOrder.objects.create(order=order, partner=partner, metadata=request.metadata)
    return order
