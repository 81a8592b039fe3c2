"""What only the demo has."""

from django.db import models
from django.db.models import Q

from billing.models.payments import PaymentRequest
from core.fields import UnitsField


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


class DemoCardRecord(models.Model):
    """Demo only: what the test card processor remembers, apart from our own rows. `body` is the object as its API
    shows it, or the answer that a repeated idempotency key gets."""

    class Kind(models.TextChoices):
        SESSION = "session"
        REFUND = "refund"
        DISPUTE = "dispute"
        KEY = "key", "idempotency key"

    kind = models.CharField(max_length=8, choices=Kind.choices)
    reference = models.CharField(max_length=255, unique=True)
    body = models.JSONField()
    made_at = models.DateTimeField(help_text="System clock.")
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="System clock: when a delayed payment is decided."
    )

    def __str__(self) -> str:
        return self.reference


class DemoCardEvent(models.Model):
    """Demo only: a signed event that the test card processor is to post to our own webhook."""

    event_id = models.CharField(max_length=120, unique=True)
    body = models.TextField()
    next_at = models.DateTimeField(help_text="System clock: when it may be posted.")
    attempts = models.PositiveIntegerField(default=0)
    posted_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return self.event_id
