"""Money that goes back: the decision, the movement, and credits for what was not delivered."""

from django.db import models
from django.db.models import Q

from billing.lifecycle import RefundStatus
from billing.models.payments import PaymentRequest, Rail
from core.fields import UnitsField
from orders.models import Order


class Refund(models.Model):
    """The decision that money is due back, in the asset and on the rail that it came by. `key` makes it once."""

    class Reason(models.TextChoices):
        CANCELLED = "cancelled"
        NOT_DELIVERED = "not_delivered"
        LATE_DELIVERY = "late_delivery", "the buyer did not wait"
        EARLY_END = "early_end"
        EXTENSION_FAILED = "extension_failed"
        NO_CAPACITY = "no_capacity"
        LATE_MONEY = "late_money"
        EXCESS = "excess"
        PARTIAL = "partial", "a part that never became whole"
        WRONG_ASSET = "wrong_asset"
        WRONG_NETWORK = "wrong_network"
        PAID_TWICE = "paid_twice"
        SCREENING = "screening"
        CREDIT = "credit", "cards that were missing"
        BY_HAND = "by_hand"

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="refunds")
    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="refunds")
    key = models.CharField(max_length=80, help_text="What it is for, once per payment.")
    reason = models.CharField(max_length=20, choices=Reason.choices)
    rail = models.CharField(max_length=10, choices=Rail.choices)
    network = models.CharField(max_length=40, blank=True)
    chain_id = models.BigIntegerField(null=True, blank=True)
    asset = models.CharField(max_length=20, help_text="Symbol, or the currency of a bank card.")
    asset_contract = models.CharField(max_length=42, blank=True)
    decimals = models.PositiveSmallIntegerField()
    units = UnitsField()
    status = models.CharField(max_length=16, choices=RefundStatus.choices)
    destination = models.CharField(max_length=42, blank=True)
    destination_at = models.DateTimeField(null=True, blank=True, help_text="When the buyer confirmed it.")
    tx_hash = models.CharField(max_length=66, blank=True)
    payment_intent = models.CharField(max_length=120, blank=True)
    card_refund_id = models.CharField(max_length=120, blank=True)
    opened_at = models.DateTimeField()
    opened_by = models.CharField(max_length=150)
    note = models.TextField(blank=True)
    due_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    sent_by = models.CharField(max_length=150, blank=True)
    verified_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    next_at = models.DateTimeField(help_text="System clock: when a worker may look next.")
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True)
    claim_token = models.UUIDField(null=True, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True, help_text="System clock.")

    class Meta:
        ordering = ["id"]
        # Staff look for a refund by what the buyer or the chain shows of it.
        indexes = [
            models.Index(fields=["destination"], name="refund_by_address", condition=~Q(destination="")),
            models.Index(fields=["tx_hash"], name="refund_by_hash", condition=~Q(tx_hash="")),
        ]
        constraints = [
            models.UniqueConstraint(fields=["payment", "key"], name="refund_once_per_key"),
            models.CheckConstraint(condition=Q(units__gt=0), name="refund_positive"),
            models.CheckConstraint(condition=Q(status__in=RefundStatus.values), name="refund_status_known"),
            models.CheckConstraint(
                condition=Q(rail=Rail.BANK_CARD) | Q(status=RefundStatus.ADDRESS_NEEDED) | ~Q(destination=""),
                name="refund_has_destination",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.order_id} {self.reason} {self.status}"


class RefundMovement(models.Model):
    """The money that went back, as the chain or the card processor showed it. Append-only; a movement serves one
    refund."""

    refund = models.ForeignKey(Refund, on_delete=models.PROTECT, related_name="movements")
    rail = models.CharField(max_length=10, choices=Rail.choices)
    chain_id = models.BigIntegerField(null=True, blank=True)
    tx_hash = models.CharField(max_length=66, blank=True)
    ordinal = models.PositiveIntegerField(default=0)
    card_refund_id = models.CharField(max_length=120, blank=True)
    units = UnitsField()
    block_number = models.BigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=66, blank=True)
    block_time = models.DateTimeField(null=True, blank=True)
    found_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chain_id", "tx_hash", "ordinal"],
                condition=~Q(tx_hash=""),
                name="refund_movement_once_on_chain",
            ),
            models.UniqueConstraint(
                fields=["card_refund_id"],
                condition=~Q(card_refund_id=""),
                name="refund_movement_once_by_card",
            ),
            models.CheckConstraint(condition=Q(units__gt=0), name="refund_movement_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.refund_id} {self.tx_hash or self.card_refund_id}"


class Credit(models.Model):
    """What one outage of the fleet's record is worth. Append-only; due as a refund at the end of the lease."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="credits")
    outage_id = models.BigIntegerField(unique=True)
    cause = models.CharField(max_length=8)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    minutes = models.PositiveIntegerField(help_text="Each started minute of one card.")
    amount = models.DecimalField(max_digits=14, decimal_places=2)
    currency = models.CharField(max_length=3)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.order_id} {self.amount} {self.currency}"
