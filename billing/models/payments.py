"""Payment requests and the one computed view of each."""

from dataclasses import dataclass

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from billing.lifecycle import PaymentStatus
from billing.models.addresses import DepositAddress
from core.fields import UnitsField
from orders.models import Order


class Rail(models.TextChoices):
    CRYPTO = "crypto"
    BANK_CARD = "bank_card"


@dataclass(frozen=True)
class CryptoPart:
    """What must arrive on chain: base units of one asset, at one address. `contract` is empty for the native coin."""

    network: str
    chain_id: int
    asset: str
    contract: str
    decimals: int
    due_units: int
    deposit: DepositAddress
    from_block: int

    @property
    def address(self) -> str:
        """With its checksum."""
        return self.deposit.address


class PaymentRequest(models.Model):
    """What must arrive, where and until when. Frozen at the checkout.

    `rail` is what was chosen first. The crypto part is there once an address was issued, the bank-card part is a
    row per session (CardSession); one of them in full settles the payment, money on the other is due back.
    """

    order = models.OneToOneField(Order, on_delete=models.PROTECT, related_name="payment")
    rail = models.CharField(max_length=10, choices=Rail.choices, default=Rail.CRYPTO)
    network = models.CharField(max_length=40, blank=True)
    chain_id = models.BigIntegerField(null=True, blank=True)
    asset = models.CharField(max_length=20, blank=True)
    asset_contract = models.CharField(max_length=42, blank=True, help_text="Empty: the native coin.")
    decimals = models.PositiveSmallIntegerField(null=True, blank=True)
    due_units = UnitsField(null=True, blank=True)
    rate = models.DecimalField(
        max_digits=30, decimal_places=12, null=True, blank=True, help_text="Currency for one coin."
    )
    rate_source = models.CharField(max_length=240, blank=True)
    rate_at = models.DateTimeField(null=True, blank=True)
    amount = models.DecimalField(max_digits=14, decimal_places=2)
    currency = models.CharField(max_length=3)
    address = models.OneToOneField(
        DepositAddress, null=True, blank=True, on_delete=models.PROTECT, related_name="payment"
    )
    from_block = models.BigIntegerField(
        null=True, blank=True, help_text="Transfers in earlier blocks of the chosen network never count."
    )
    opened_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(due_units__isnull=True) | Q(due_units__gt=0), name="payment_due_positive"
            ),
            models.CheckConstraint(
                condition=Q(address__isnull=True)
                | Q(
                    chain_id__isnull=False,
                    decimals__isnull=False,
                    due_units__isnull=False,
                    from_block__isnull=False,
                ),
                name="payment_crypto_complete",
            ),
            models.CheckConstraint(
                condition=Q(rail=Rail.BANK_CARD) | Q(address__isnull=False), name="payment_crypto_has_address"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.asset or self.rail} for {self.order_id}"

    @property
    def takes_crypto(self) -> bool:
        """Whether a deposit address was issued for it."""
        return self.address_id is not None

    @property
    def crypto(self) -> CryptoPart:
        """The crypto part. Raises ValueError where there is none (`takes_crypto`)."""
        if self.address is None or self.chain_id is None or self.decimals is None:
            raise ValueError("This payment has no crypto part.")
        if self.due_units is None or self.from_block is None:
            raise ValueError("The crypto part of this payment is not complete.")
        return CryptoPart(
            network=self.network,
            chain_id=self.chain_id,
            asset=self.asset,
            contract=self.asset_contract,
            decimals=self.decimals,
            due_units=self.due_units,
            deposit=self.address,
            from_block=self.from_block,
        )


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
    others = models.JSONField(
        default=list,
        blank=True,
        help_text='What else arrived: [{"network", "asset", "contract", "decimals", "units"}].',
    )
    card_minor = UnitsField(default=0, help_text="Captured by bank card, in minor units of the currency.")
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
        indexes = [models.Index(fields=["status", "watch_until"], name="payment_view_open")]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=PaymentStatus.values), name="payment_status_known")
        ]

    def __str__(self) -> str:
        return f"{self.status} {','.join(self.flags)}"


class Acceptance(models.Model):
    """Staff took what arrived as payment in full. Append-only; the payment counts as settled by hand from then on."""

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="acceptances")
    actor = models.CharField(max_length=150)
    reason = models.TextField()
    facts = models.JSONField(default=dict, help_text="What had arrived and what was missing at that moment.")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.payment_id} by {self.actor}"


class ScreeningVerdict(models.Model):
    """What the screening source said of one sender. Append-only."""

    class Verdict(models.TextChoices):
        CLEAR = "clear"
        HIT = "hit"
        UNKNOWN = "unknown"

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="verdicts")
    address = models.CharField(max_length=42)
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    source = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["payment", "address", "-id"], name="verdict_latest")]

    def __str__(self) -> str:
        return f"{self.address} {self.verdict}"
