"""Facts read from chains, never edited, and what buyers claim."""

from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from billing.models.payments import PaymentRequest
from core.fields import UnitsField


class TransferQuerySet(models.QuerySet["Transfer"]):
    def in_chain(self) -> "TransferQuerySet":
        """Transfers whose block is part of the chain as far as we know: the last sighting decides."""
        last = TransferSighting.objects.filter(transfer=OuterRef("pk")).order_by("-id").values("in_chain")[:1]
        return self.annotate(standing=Coalesce(Subquery(last), True)).filter(standing=True)


class Transfer(models.Model):
    """A token transfer to one of our addresses, as one block told it. Append-only; key is the place in its tx."""

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="transfers")
    chain_id = models.BigIntegerField()
    asset_contract = models.CharField(max_length=42, blank=True, help_text="Empty: the native coin.")
    tx_hash = models.CharField(
        max_length=66, blank=True, help_text="Empty: the coin came by an internal call; the block is known."
    )
    ordinal = models.PositiveIntegerField(help_text="Position among the logs of its transaction.")
    block_number = models.BigIntegerField()
    block_hash = models.CharField(max_length=66)
    block_time = models.DateTimeField()
    sender = models.CharField(max_length=42, blank=True)
    units = UnitsField()
    found_at = models.DateTimeField()

    objects = TransferQuerySet.as_manager()

    class Meta:
        ordering = ["block_number", "ordinal"]
        indexes = [models.Index(fields=["chain_id", "block_number"], name="transfer_height")]
        constraints = [
            models.UniqueConstraint(
                fields=["chain_id", "tx_hash", "ordinal", "block_hash"],
                condition=~Q(tx_hash=""),
                name="transfer_once_per_block",
            ),
            models.UniqueConstraint(
                fields=["payment", "chain_id", "asset_contract", "block_hash"],
                condition=Q(tx_hash=""),
                name="internal_transfer_once_per_block",
            ),
            models.CheckConstraint(condition=Q(units__gt=0), name="transfer_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash}#{self.ordinal}"


class TransferSighting(models.Model):
    """The fact that the block of a transfer left the chain, or came back to it. Append-only."""

    transfer = models.ForeignKey(Transfer, on_delete=models.PROTECT, related_name="sightings")
    in_chain = models.BooleanField()
    found_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.transfer_id} {'back' if self.in_chain else 'gone'}"


class BalanceReading(models.Model):
    """A balance at one block whose hash was served in the same round. Append-only; written when it changed."""

    class Kind(models.TextChoices):
        HEAD = "head"
        SETTLED = "settled"

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="readings")
    chain_id = models.BigIntegerField()
    asset_contract = models.CharField(max_length=42, blank=True, help_text="Empty: the native coin.")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    block_number = models.BigIntegerField()
    block_hash = models.CharField(max_length=66)
    block_time = models.DateTimeField()
    units = UnitsField()
    read_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(
                fields=["payment", "chain_id", "asset_contract", "kind", "-id"], name="reading_latest"
            ),
            models.Index(fields=["chain_id", "block_number"], name="reading_height"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.block_number}: {self.units}"


class Claim(models.Model):
    """Somebody pressed "I have paid". A hint; the hash is kept as typed evidence only."""

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="claims")
    transaction_hash = models.CharField(max_length=66, blank=True)
    by = models.CharField(max_length=120)
    at = models.DateTimeField(help_text="System clock: claims are limited by it.")

    class Meta:
        indexes = [
            models.Index(fields=["payment", "-at"], name="claim_recent"),
            # Staff look for the order of a hash that a buyer has sent them.
            models.Index(
                fields=["transaction_hash"], name="claim_by_hash", condition=~Q(transaction_hash="")
            ),
        ]

    def __str__(self) -> str:
        return f"claim {self.payment_id}"
