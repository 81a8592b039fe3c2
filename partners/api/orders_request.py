"""Bodies of quotes and orders as the document describes them, and what the services are asked for by them."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from rest_framework import serializers

from billing.services.checkout import CryptoChoice, anonymous_limits
from catalog import tax
from catalog.offers import OptionChoice
from catalog.pricing import MAX_LOTS
from catalog.tax import BillTo
from core.errors import Refusal
from fleet.keys import MAX_LINE, PublicKey, parse_keys
from orders.contact import MAX_EMAIL, clean_contact
from orders.models import Order
from orders.services.quote import QuoteRequest
from partners.api.body import Body, Metadata, read
from partners.limits import limits_of
from partners.models import Partner
from partners.services.place_order import OrderRequest

MAX_DAYS = 1_000
MAX_QUANTITY = 10_000


class BillToBody(Body):
    """Who is billed. Left out of a quote: a consumer in the shop's country."""

    country = serializers.CharField(max_length=100, help_text="ISO 3166-1 alpha-2, such as DE.")
    kind = serializers.ChoiceField(choices=tax.KINDS, default=tax.CONSUMER)
    vat_id = serializers.CharField(
        max_length=100, default=None, allow_null=True, allow_blank=True, help_text="Only of a business."
    )


class OptionBody(Body):
    code = serializers.CharField(max_length=100)
    quantity = serializers.IntegerField(min_value=1, max_value=MAX_QUANTITY)


class QuoteBody(Body):
    """What is to be priced."""

    lot = serializers.CharField(max_length=100, help_text="Id of a lot on sale, such as b200-180x2.")
    lots = serializers.IntegerField(min_value=1, max_value=MAX_LOTS, default=1)
    days = serializers.IntegerField(min_value=1, max_value=MAX_DAYS, help_text="A term that is offered.")
    image = serializers.CharField(max_length=100, help_text="Code of an environment that runs on the card.")
    options = OptionBody(many=True, default=list)
    starts_at = serializers.DateTimeField(
        default=None,
        allow_null=True,
        help_text="A whole hour, at least 5 hours and up to 60 days ahead, with its zone. Null: as soon as possible.",
    )
    bill_to = BillToBody(required=False)


class ContactBody(Body):
    """Whom the order is for: gets access, the page of the order and, unless `notify` is partner, the mails."""

    name = serializers.CharField(max_length=200)
    email = serializers.CharField(max_length=MAX_EMAIL)
    company = serializers.CharField(max_length=200, default="", allow_blank=True)
    language = serializers.ChoiceField(
        choices=[code for code, _name in settings.LANGUAGES],
        required=False,
        help_text="Of page and mails; left out: the partner's own.",
    )


class PayWithBody(Body):
    """How it is paid; `pay_with` of the root lists what is offered."""

    rail = serializers.ChoiceField(choices=["crypto"])
    network = serializers.CharField(max_length=40)
    asset = serializers.CharField(max_length=20)


class OrderBody(Body):
    """The acceptance of a quote."""

    quote = serializers.CharField(max_length=60)
    contact = ContactBody()
    bill_to = BillToBody(required=False, help_text="If given, equal to that of the quote.")
    ssh_keys = serializers.ListField(
        child=serializers.CharField(max_length=MAX_LINE),
        help_text="Public keys, one a text. Never a private one.",
    )
    pay_with = PayWithBody()
    accept_terms = serializers.CharField(max_length=40, help_text="`terms_version` of the root.")
    notify = serializers.ChoiceField(
        choices=Order.Notify.values,
        default=Order.Notify.BUYER.value,
        help_text="partner: we write to the partner alone, never to the contact.",
    )
    metadata = Metadata(
        child=serializers.CharField(max_length=Metadata.MAX_TEXT),
        default=dict,
        help_text="Up to 20 names of 40 characters with texts of 500. Kept and shown to you alone.",
    )


class ExtensionBody(Body):
    """How much longer, paid how. Everything else is as the order has it, at today's price."""

    days = serializers.IntegerField(min_value=1, max_value=MAX_DAYS)
    pay_with = PayWithBody()


class ClaimBody(Body):
    """ "I have paid". The hash helps where an exchange paid in parts; without it we look all the same."""

    transaction_hash = serializers.CharField(max_length=200, default=None, allow_null=True, allow_blank=True)


class NothingBody(Body):
    """An empty object, or no body."""


_QUOTE, _ORDER, _EXTENSION, _CLAIM, _NOTHING = (
    QuoteBody(),
    OrderBody(),
    ExtensionBody(),
    ClaimBody(),
    NothingBody(),
)


def quote_request(data: Any, partner: Partner | None) -> QuoteRequest:
    """Raises InvalidBody and Invalid."""
    asked = read(_QUOTE, data)
    who = asked.get("bill_to")
    return QuoteRequest(
        lot=asked["lot"],
        lots=asked["lots"],
        days=asked["days"],
        image=asked["image"],
        options=[OptionChoice(**option) for option in asked["options"]],
        starts_at=asked["starts_at"],
        bill_to=tax.bill_to(country=settings.SHOP_COUNTRY) if who is None else _bill_to(who),
        limits=anonymous_limits() if partner is None else limits_of(partner),
    )


def order_request(data: Any, partner: Partner) -> OrderRequest:
    """Raises InvalidBody, Invalid and Refusal(key_rejected)."""
    asked = read(_ORDER, data)
    contact = {"language": partner.mail_language} | asked["contact"]
    return OrderRequest(
        quote_id=asked["quote"],
        contact=clean_contact(**contact),
        bill_to=_bill_to(asked["bill_to"]) if "bill_to" in asked else None,
        keys=_keys(asked["ssh_keys"]),
        pay_with=_pay_with(asked["pay_with"]),
        terms_version=asked["accept_terms"],
        notify=asked["notify"],
        metadata=asked["metadata"],
    )


def extension_request(data: Any) -> tuple[int, CryptoChoice]:
    """Days and way of paying. Raises InvalidBody."""
    asked = read(_EXTENSION, data)
    return asked["days"], _pay_with(asked["pay_with"])


def claimed_hash(data: Any) -> str:
    """Empty where none was given. Raises InvalidBody."""
    return read(_CLAIM, data)["transaction_hash"] or ""


def require_nothing(data: Any) -> None:
    """For a call that takes no values. Raises InvalidBody."""
    read(_NOTHING, data)


def _bill_to(values: Mapping[str, Any]) -> BillTo:
    return tax.bill_to(country=values["country"], kind=values["kind"], vat_id=values["vat_id"])


def _pay_with(values: Mapping[str, Any]) -> CryptoChoice:
    return CryptoChoice(network=values["network"], asset=values["asset"])


def _keys(texts: list[str]) -> list[PublicKey]:
    """As the form reads them. A key that is at fault by itself is named by its place."""
    try:
        return parse_keys(texts)
    except Refusal:
        for number, text in enumerate(texts):
            parse_keys(text, field=f"ssh_keys.{number}")
        raise
