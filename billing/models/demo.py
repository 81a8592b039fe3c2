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
