"""Shapes of answers about quotes and orders, for the document. The values are made in orders_answer."""

from typing import Any

from rest_framework import serializers

from billing.lifecycle import PaymentFlag, PaymentStatus, RefundStatus
from fleet.lifecycle import LeaseStatus
from orders.lifecycle import OrderStatus, QuoteStatus
from orders.models import Order

_AMOUNT = "Decimal text."


class LineSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="lot, option or tax.")
    code = serializers.CharField()
    facts = serializers.DictField(child=serializers.CharField())
    quantity = serializers.IntegerField()
    unit_amount = serializers.CharField()
    amount = serializers.CharField()


class ChosenOptionSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    quantity = serializers.IntegerField()


class BilledSerializer(serializers.Serializer[Any]):
    country = serializers.CharField()
    kind = serializers.CharField()
    vat_id = serializers.CharField(allow_null=True)


class QuoteSerializer(serializers.Serializer[Any]):
    """A frozen price. Lines add up to `total`; what was signed is `document`, byte for byte."""

    id = serializers.CharField()
    status = serializers.ChoiceField(choices=QuoteStatus.values)
    lot = serializers.CharField()
    lots = serializers.IntegerField()
    days = serializers.IntegerField()
    image = serializers.CharField()
    options = ChosenOptionSerializer(many=True)
    starts_at = serializers.DateTimeField(allow_null=True)
    bill_to = BilledSerializer()
    lines = LineSerializer(many=True)
    subtotal = serializers.CharField(help_text=_AMOUNT)
    tax = serializers.CharField(help_text=_AMOUNT)
    total = serializers.CharField(help_text=_AMOUNT)
    currency = serializers.CharField()
    price_version = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    document = serializers.CharField(help_text="Canonical JSON (RFC 8785) of all that was promised.")
    signature = serializers.CharField(help_text="Ed25519 over `document`, base64.")
    key_id = serializers.CharField(help_text="Of the key in /.well-known/anchorgpu/quote-keys.json.")


class ContactSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    email = serializers.CharField()
    company = serializers.CharField(allow_blank=True)
    language = serializers.CharField()


class PaymentSerializer(serializers.Serializer[Any]):
    """Amounts are of the asset. `due` is what is still missing. Past `expires_at` the status is expired by the clock;
    `still_checking` says that money which was sent in time may still be found."""

    rail = serializers.CharField()
    status = serializers.ChoiceField(choices=PaymentStatus.values)
    flags = serializers.ListField(child=serializers.ChoiceField(choices=PaymentFlag.values))
    network = serializers.CharField()
    chain_id = serializers.IntegerField()
    asset = serializers.CharField()
    contract = serializers.CharField(allow_blank=True, help_text="Of the token; empty: the native coin.")
    address = serializers.CharField()
    amount = serializers.CharField(help_text=_AMOUNT)
    amount_units = serializers.CharField(help_text="The same in base units, as text.")
    received = serializers.CharField(help_text=_AMOUNT)
    settled = serializers.CharField(help_text=_AMOUNT)
    due = serializers.CharField(help_text=_AMOUNT)
    expires_at = serializers.DateTimeField()
    still_checking = serializers.BooleanField()
    last_block = serializers.IntegerField(allow_null=True, help_text="The newest block that was looked at.")
    checked_at = serializers.DateTimeField(allow_null=True)


class OrderLeaseSerializer(serializers.Serializer[Any]):
    """`starts_at` is when access opened: the term runs from then on."""

    status = serializers.ChoiceField(choices=LeaseStatus.values)
    ready_by = serializers.DateTimeField()
    starts_at = serializers.DateTimeField(allow_null=True)
    ends_at = serializers.DateTimeField(allow_null=True)
    last_safe_export_at = serializers.DateTimeField(
        allow_null=True, help_text="Null: the size of the export is not known."
    )


class RefundSerializer(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=RefundStatus.values)
    amount = serializers.CharField(help_text="Decimal text, of the asset.")
    asset = serializers.CharField()
    network = serializers.CharField(allow_blank=True)
    reason = serializers.CharField()
    transaction_hash = serializers.CharField(allow_blank=True, help_text="Empty until it was sent.")


class OrderSerializer(serializers.Serializer[Any]):
    """One order. `lease` is null until the payment is final; an extension shows the lease that it makes longer."""

    id = serializers.CharField()
    status = serializers.ChoiceField(choices=OrderStatus.values)
    quote = serializers.CharField()
    extends = serializers.CharField(allow_null=True, help_text="The order whose lease this one makes longer.")
    lot = serializers.CharField()
    lots = serializers.IntegerField()
    days = serializers.IntegerField()
    image = serializers.CharField()
    options = ChosenOptionSerializer(many=True)
    starts_at = serializers.DateTimeField(allow_null=True, help_text="The chosen start.")
    total = serializers.CharField(help_text=_AMOUNT)
    currency = serializers.CharField()
    bill_to = BilledSerializer()
    contact = ContactSerializer()
    notify = serializers.ChoiceField(choices=Order.Notify.values)
    ssh_key_fingerprints = serializers.ListField(child=serializers.CharField())
    metadata = serializers.DictField(child=serializers.CharField())
    placed_at = serializers.DateTimeField()
    payment = PaymentSerializer(allow_null=True)
    lease = OrderLeaseSerializer(allow_null=True)
    refunds = RefundSerializer(many=True)
    url = serializers.CharField(
        help_text="The page of the order. Whoever has the address can act on it: empty for a key without orders:write."
    )


class AccessCardSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    index = serializers.IntegerField()
    serial = serializers.CharField()
    accelerator = serializers.CharField()


class AccessSerializer(serializers.Serializer[Any]):
    """How to log in, and by what the machine is known."""

    host = serializers.CharField()
    port = serializers.IntegerField()
    user = serializers.CharField()
    host_key = serializers.CharField(help_text="A line for known_hosts.")
    host_key_fingerprint = serializers.CharField()
    ssh_key_fingerprints = serializers.ListField(
        child=serializers.CharField(), help_text="Of the keys that open it."
    )
    cards = AccessCardSerializer(many=True)
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


class EarlyEndPartSerializer(serializers.Serializer[Any]):
    order = serializers.CharField()
    days = serializers.IntegerField()
    amount = serializers.CharField(help_text=_AMOUNT)


class EarlyEndSerializer(serializers.Serializer[Any]):
    """What falls due as a refund: whole unused days at half of what was paid for a day."""

    order = serializers.CharField()
    ended_at = serializers.DateTimeField()
    unused_days = serializers.IntegerField()
    amount = serializers.CharField(help_text=_AMOUNT)
    currency = serializers.CharField()
    parts = EarlyEndPartSerializer(many=True)
