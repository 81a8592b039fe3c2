"""Payment requests, the pool of deposit addresses, facts read from chains, and the one computed view of each."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from billing.lifecycle import PaymentStatus
from core.fields import UnitsField
from orders.models import Order


class ChainState(models.Model):
    """What the worker last read of one network. Pages and /readyz read this row; the web process makes no RPC."""

    network = models.CharField(max_length=40, primary_key=True)
    chain_id = models.BigIntegerField()
    offered = models.BooleanField(
        default=False, help_text="Chain id, decimals and symbols agree with the file."
    )
    problem = models.CharField(max_length=300, blank=True)
    verified_at = models.DateTimeField(null=True, blank=True, help_text="System clock.")
    head_number = models.BigIntegerField(null=True, blank=True)
    head_hash = models.CharField(max_length=66, blank=True)
    head_time = models.DateTimeField(null=True, blank=True)
    settled_number = models.BigIntegerField(null=True, blank=True)
    settled_hash = models.CharField(max_length=66, blank=True)
    settled_time = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True, help_text="System clock of the last full round.")
    checked_product_at = models.DateTimeField(null=True, blank=True, help_text="Product clock of the same.")
    swept_at = models.DateTimeField(
        null=True, blank=True, help_text="System clock: last look at every address ever issued."
    )
    swept_payment = models.BigIntegerField(
        default=0, help_text="How far the look that is under way has come."
    )
    claim_token = models.UUIDField(null=True, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True, help_text="System clock.")

    def __str__(self) -> str:
        return self.network


class DepositAddress(models.Model):
    """One derived address. An index is used for one order on all networks and never again."""

    class Status(models.TextChoices):
        POOLED = "pooled"
        ISSUED = "issued"
        SKIPPED = "skipped", "skipped: it has a history"

    xpub_fingerprint = models.CharField(max_length=64)
    index = models.PositiveIntegerField()
    address = models.CharField(max_length=42, unique=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.POOLED)
    derived_at = models.DateTimeField()
    issued_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["xpub_fingerprint", "index"], name="deposit_index_once")
        ]
        verbose_name_plural = "deposit addresses"

    def __str__(self) -> str:
        return self.address


class AddressCheck(models.Model):
    """The last look at a pooled address on one network: clean means no balance, no nonce, no code."""

    address = models.ForeignKey(DepositAddress, on_delete=models.CASCADE, related_name="checks")
    network = models.CharField(max_length=40)
    is_clean = models.BooleanField()
    facts = models.JSONField(default=dict)
    block_number = models.BigIntegerField()
    checked_at = models.DateTimeField(help_text="System clock.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["address", "network"], name="address_check_once")]

    def __str__(self) -> str:
        return f"{self.address_id} {self.network}"


class PaymentRequest(models.Model):
    """What must arrive, where and until when. Frozen at the checkout."""

    order = models.OneToOneField(Order, on_delete=models.PROTECT, related_name="payment")
    network = models.CharField(max_length=40)
    chain_id = models.BigIntegerField()
    asset = models.CharField(max_length=20)
    asset_contract = models.CharField(max_length=42)
    decimals = models.PositiveSmallIntegerField()
    due_units = UnitsField()
    amount = models.DecimalField(max_digits=14, decimal_places=2)
    currency = models.CharField(max_length=3)
    address = models.OneToOneField(DepositAddress, on_delete=models.PROTECT, related_name="payment")
    from_block = models.BigIntegerField(help_text="Transfers in earlier blocks never count.")
    opened_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(due_units__gt=0), name="payment_due_positive")]

    def __str__(self) -> str:
        return f"{self.asset} for {self.order_id}"


class PaymentView(models.Model):
    """The state computed from the facts, one row per payment, written under a lock on the order only."""

    payment = models.OneToOneField(PaymentRequest, on_delete=models.PROTECT, related_name="view")
    status = models.CharField(max_length=10, choices=PaymentStatus.choices, default=PaymentStatus.AWAITING)
    flags = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    received_units = UnitsField(default=0, help_text="Seen at the head, late money included.")
    settled_units = UnitsField(default=0, help_text="At the settled block, late money included.")
    on_time_units = UnitsField(
        default=0, help_text="Of settled_units, what came by expires_at by block time."
    )
    last_block = models.BigIntegerField(null=True, blank=True)
    last_block_at = models.DateTimeField(null=True, blank=True, help_text="Time of that block.")
    checked_at = models.DateTimeField(null=True, blank=True)
    watch_until = models.DateTimeField(help_text="Product clock: closely watched until then.")
    first_seen_at = models.DateTimeField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)
    reversed_at = models.DateTimeField(null=True, blank=True)
    unpaid_confirmed_at = models.DateTimeField(
        null=True, blank=True, help_text="A settled block at or after expires_at shows the sum not covered."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=PaymentStatus.values), name="payment_status_known")
        ]

    def __str__(self) -> str:
        return f"{self.status} {','.join(self.flags)}"


class TransferQuerySet(models.QuerySet["Transfer"]):
    def in_chain(self) -> "TransferQuerySet":
        """Transfers whose block is part of the chain as far as we know: the last sighting decides."""
        last = TransferSighting.objects.filter(transfer=OuterRef("pk")).order_by("-id").values("in_chain")[:1]
        return self.annotate(standing=Coalesce(Subquery(last), True)).filter(standing=True)


class Transfer(models.Model):
    """A token transfer to one of our addresses, as one block told it. Append-only; key is the place in its tx."""

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="transfers")
    chain_id = models.BigIntegerField()
    asset_contract = models.CharField(max_length=42)
    tx_hash = models.CharField(max_length=66)
    ordinal = models.PositiveIntegerField(help_text="Position among the logs of its transaction.")
    block_number = models.BigIntegerField()
    block_hash = models.CharField(max_length=66)
    block_time = models.DateTimeField()
    sender = models.CharField(max_length=42)
    units = UnitsField()
    found_at = models.DateTimeField()

    objects = TransferQuerySet.as_manager()

    class Meta:
        ordering = ["block_number", "ordinal"]
        constraints = [
            models.UniqueConstraint(
                fields=["chain_id", "tx_hash", "ordinal", "block_hash"], name="transfer_once_per_block"
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
    asset_contract = models.CharField(max_length=42, blank=True, help_text="Empty: the native coin.")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    block_number = models.BigIntegerField()
    block_hash = models.CharField(max_length=66)
    block_time = models.DateTimeField()
    units = UnitsField()
    read_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["payment", "asset_contract", "kind", "-id"], name="reading_latest")]

    def __str__(self) -> str:
        return f"{self.kind} {self.block_number}: {self.units}"


class Claim(models.Model):
    """Somebody pressed "I have paid". A hint; the hash is kept as typed evidence only."""

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="claims")
    transaction_hash = models.CharField(max_length=66, blank=True)
    by = models.CharField(max_length=120)
    at = models.DateTimeField(help_text="System clock: claims are limited by it.")

    class Meta:
        indexes = [models.Index(fields=["payment", "-at"], name="claim_recent")]

    def __str__(self) -> str:
        return f"claim {self.payment_id}"


class DemoTransfer(models.Model):
    """Demo only: a transfer from the demo wallet that a worker is to send. The nonce is fixed before the sending,
    so that a retry after a kill cannot pay twice."""

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="demo_transfers")
    units = UnitsField()
    requested_at = models.DateTimeField()
    nonce = models.BigIntegerField(null=True, blank=True, unique=True)
    tx_hash = models.CharField(max_length=66, blank=True)
    claim_token = models.UUIDField(null=True, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["payment"], condition=Q(tx_hash=""), name="demo_transfer_one_unsent"
            )
        ]

    def __str__(self) -> str:
        return f"demo {self.payment_id}"


class AcceptedXpub(models.Model):
    """Fingerprints of account xpubs that the operator has accepted. The first is accepted by being used."""

    fingerprint = models.CharField(max_length=64, unique=True)
    accepted_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.fingerprint
