"""Accept a quote: hold the cards and write the order, in the caller's transaction."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext_lazy as _

from catalog.selectors import require_still_on_sale
from catalog.stack import driver_needed
from catalog.tax import BillTo
from core import clock
from core.errors import Conflict, Invalid, NotFound, Refusal
from fleet.contention import Patience
from fleet.keys import PublicKey
from fleet.limits import HoldLimits
from fleet.periods import DAY_SECONDS
from fleet.services.hold import HoldRequest, hold
from orders import locks
from orders.contact import Contact
from orders.lifecycle import ORDER, QUOTE, QuoteStatus
from orders.models import Order, Quote
from orders.starts import check_start


@dataclass(frozen=True)
class PlaceRequest:
    """A buyer's acceptance. Contact and keys are already cleaned; `owner` and `prefix` are opaque to us.

    `bill_to` None: as the quote says.
    """

    quote_id: str
    owner: str
    prefix: str
    limits: HoldLimits
    contact: Contact
    bill_to: BillTo | None
    keys: Sequence[PublicKey]
    terms_version: str
    mail_to: str
    mail_language: str
    notify: str


class QuoteAccepted(Conflict):
    """The quote already made an order; `order` is that order."""

    def __init__(self, order: Order) -> None:
        super().__init__(
            code="quote_accepted",
            message=_("This quote was already used for order %(order)s."),
            field="quote",
            params={"order": order.public_id},
        )
        self.order = order


def place(request: PlaceRequest, *, hold_for: timedelta, patience: Patience | None = None) -> Order:
    """Place the order and hold its cards for `hold_for` from this moment. Locks the quote, then what fleet.hold locks.

    Raises NotFound, QuoteAccepted, Refusal(quote_expired, not_on_sale, bill_to_mismatch, start_not_offered),
    Invalid(terms_not_accepted) and what fleet.hold raises. One quote makes one order, whoever asks how often.
    `patience` is that of a caller who has waited before; who waits for another click on the quote is busy as well.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("An order is placed in the transaction of the checkout.")
    patience = patience or Patience()
    quote = locks.quote_for_update(request.quote_id, patience=patience)
    if quote is None:
        raise NotFound(code="not_found", message=_("There is no such quote."), field="quote")
    _check(quote, request)
    moment = clock.now()
    hold_expires_at = moment + hold_for
    order = Order(
        quote=quote,
        owner=request.owner,
        contact_name=request.contact.name,
        contact_email=request.contact.email,
        contact_company=request.contact.company,
        contact_language=request.contact.language,
        mail_to=request.mail_to,
        mail_language=request.mail_language,
        notify=request.notify,
        ssh_keys=[asdict(key) for key in request.keys],
        terms_version=request.terms_version,
        terms_accepted_at=moment,
        placed_at=moment,
        hold_expires_at=hold_expires_at,
    )
    hold(
        HoldRequest(
            ref=order.public_id,
            owner=request.owner,
            prefix=request.prefix,
            lot=quote.lot,
            lots=quote.lots,
            term_seconds=quote.days * DAY_SECONDS,
            starts_at=quote.starts_at,
            expires_at=hold_expires_at,
            driver_minimum=driver_needed(quote.image, quote.lot.accelerator),
            limits=request.limits,
        ),
        patience=patience,
    )
    QUOTE.advance(quote, QuoteStatus.ACCEPTED, order_ref=order.public_id, new=(order,))
    ORDER.begin(order, order_ref=order.public_id, name="order.placed")
    return order


def _check(quote: Quote, request: PlaceRequest) -> None:
    if quote.status == QuoteStatus.ACCEPTED:
        raise QuoteAccepted(quote.order)
    if quote.status == QuoteStatus.EXPIRED or quote.expires_at <= clock.now():
        raise Refusal(
            code="quote_expired", message=_("This quote has expired. Ask for a new one."), field="quote"
        )
    if request.terms_version != settings.TERMS_VERSION:
        raise Invalid(
            code="terms_not_accepted", message=_("The terms must be accepted."), field="accept_terms"
        )
    if request.bill_to is not None and asdict(request.bill_to) != quote.bill_to:
        raise Refusal(
            code="bill_to_mismatch",
            message=_("The billing details differ from those of the quote."),
            field="bill_to",
        )
    # An open quote keeps its price, but what was withdrawn since cannot be sold (DESIGN, Refusals).
    require_still_on_sale(
        lot=quote.lot, image=quote.image, option_codes=[choice["code"] for choice in quote.options]
    )
    check_start(quote.starts_at, lead_seconds=settings.START_LEAD_PLACE_SECONDS, field="quote")
