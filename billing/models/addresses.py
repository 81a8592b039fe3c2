"""The pool of deposit addresses and the account that they come from."""

from django.db import models
from django.db.models.functions import Lower


class DepositAddress(models.Model):
    """One derived address. An index is used for one order on all networks and never again."""

    class Status(models.TextChoices):
        POOLED = "pooled"
        ISSUED = "issued"
        SKIPPED = "skipped", "skipped: it has a history"
        GAP = "gap", "gap: perhaps given out after the backup that was restored"

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
        # Logs of whole blocks are matched against every address ever issued, in the form that a node writes.
        indexes = [
            models.Index(Lower("address"), name="deposit_address_lower"),
            # The next one for a checkout, past all that were ever issued.
            models.Index(
                fields=["xpub_fingerprint", "index"],
                name="deposit_pooled",
                condition=models.Q(status="pooled"),
            ),
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


class AcceptedXpub(models.Model):
    """Fingerprints of account xpubs that the operator has accepted. The first is accepted by being used."""

    fingerprint = models.CharField(max_length=64, unique=True)
    accepted_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.fingerprint
