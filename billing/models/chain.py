"""What the worker last read of networks and of prices."""

from django.db import models


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
    cursor_number = models.BigIntegerField(
        null=True, blank=True, help_text="Up to this block all transfer logs were read."
    )
    cursor_hash = models.CharField(max_length=66, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True, help_text="System clock of the last full round.")
    checked_product_at = models.DateTimeField(null=True, blank=True, help_text="Product clock of the same.")
    swept_at = models.DateTimeField(
        null=True, blank=True, help_text="System clock: last look at every address ever issued."
    )
    swept_payment = models.BigIntegerField(
        default=0, help_text="How far the look that is under way has come."
    )
    safety_payment = models.BigIntegerField(
        default=0, help_text="The last open payment whose balance was read in turn."
    )
    native_payment = models.BigIntegerField(default=0, help_text="The same for payments in the native coin.")
    failures = models.PositiveIntegerField(default=0, help_text="Looks that failed since the last good one.")
    next_at = models.DateTimeField(
        null=True, blank=True, help_text="System clock: no look before, after several that failed."
    )
    claim_token = models.UUIDField(null=True, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True, help_text="System clock.")

    def __str__(self) -> str:
        return self.network


class PriceReading(models.Model):
    """What one source said a native coin costs. Append-only; a value that cannot be used says why."""

    network = models.CharField(max_length=40)
    symbol = models.CharField(max_length=20)
    source = models.CharField(
        max_length=120, help_text="A feed's contract, or the host of the second source."
    )
    price = models.DecimalField(max_digits=30, decimal_places=12, null=True, blank=True)
    problem = models.CharField(max_length=200, blank=True)
    quoted_at = models.DateTimeField(null=True, blank=True, help_text="When the source says it was true.")
    read_at = models.DateTimeField(help_text="System clock.")

    class Meta:
        indexes = [models.Index(fields=["network", "symbol", "source", "-id"], name="price_latest")]

    def __str__(self) -> str:
        return f"{self.symbol} {self.price} {self.source}"
