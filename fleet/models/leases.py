"""Leases and the keys that open them."""

from django.db import models
from django.db.models import Q

from fleet.lifecycle import LeaseStatus
from fleet.models.holds import Hold


class Lease(models.Model):
    """A paid hold on its way through preparation, term and wipe."""

    hold = models.OneToOneField(Hold, on_delete=models.PROTECT, related_name="lease")
    order_ref = models.CharField(max_length=60, db_index=True)
    username = models.CharField(max_length=32, unique=True)
    image = models.CharField(max_length=60)
    image_facts = models.JSONField(default=dict, help_text="Name, stack and versions as ordered.")
    status = models.CharField(max_length=10, choices=LeaseStatus.choices, default=LeaseStatus.RESERVED)
    ready_by = models.DateTimeField()
    reserved_at = models.DateTimeField()
    preparing_at = models.DateTimeField(null=True, blank=True)
    testing_at = models.DateTimeField(null=True, blank=True)
    ready_at = models.DateTimeField(null=True, blank=True)
    late_at = models.DateTimeField(null=True, blank=True, help_text="When ready-by was missed.")
    ends_at = models.DateTimeField(null=True, blank=True)
    degraded_at = models.DateTimeField(null=True, blank=True)
    moving_at = models.DateTimeField(
        null=True, blank=True, help_text="A degraded lease is on its way to whole cards since then."
    )
    export_bytes = models.BigIntegerField(
        null=True, blank=True, help_text="What the buyer wants to take away, as he says."
    )
    export_rate_bytes_s = models.BigIntegerField(
        null=True, blank=True, help_text="How fast, as he says or has measured."
    )
    wanted_version = models.PositiveIntegerField(
        default=0, help_text="Grows with every change of who may log in or until when."
    )
    applied_version = models.PositiveIntegerField(
        default=0, help_text="Which of these the provider has confirmed."
    )
    export_window_at = models.DateTimeField(null=True, blank=True, help_text="When the buyer was told of it.")
    suspended_at = models.DateTimeField(null=True, blank=True)
    ending_at = models.DateTimeField(null=True, blank=True)
    wiping_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    wiped_at = models.DateTimeField(
        null=True, blank=True, help_text="When the provider confirmed end and wipe, also of a failed lease."
    )
    end_reason = models.CharField(max_length=40, blank=True)
    test_report = models.JSONField(default=dict, help_text="What the acceptance test expected and found.")
    wipe_record = models.JSONField(default=dict)
    step_started_at = models.DateTimeField(null=True, blank=True, help_text="System clock.")
    next_at = models.DateTimeField(help_text="System clock: when the next step may be tried.")
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.TextField(blank=True)
    claim_token = models.UUIDField(null=True, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True, help_text="System clock.")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(status=LeaseStatus.READY) | Q(ready_at__isnull=False, ends_at__isnull=False),
                name="lease_ready_has_term",
            ),
            models.CheckConstraint(
                condition=Q(ends_at__isnull=True) | Q(ends_at__gt=models.F("ready_at")),
                name="lease_term_forward",
            ),
            models.CheckConstraint(condition=Q(status__in=LeaseStatus.values), name="lease_status_known"),
            models.CheckConstraint(
                condition=(Q(export_bytes__isnull=True) | Q(export_bytes__gt=0))
                & (Q(export_rate_bytes_s__isnull=True) | Q(export_rate_bytes_s__gt=0)),
                name="lease_export_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.username


class AccessKey(models.Model):
    """An SSH public key that opens a lease: rebuilt from its parts, never the line that was typed."""

    class Purpose(models.TextChoices):
        BUYER = "buyer"
        TEST = "test", "acceptance test"

    lease = models.ForeignKey(Lease, on_delete=models.PROTECT, related_name="keys")
    purpose = models.CharField(max_length=8, choices=Purpose.choices, default=Purpose.BUYER)
    algorithm = models.CharField(max_length=60)
    data = models.TextField(help_text="Base64 of the public key.")
    comment = models.CharField(max_length=100, blank=True)
    fingerprint = models.CharField(max_length=80)
    member = models.CharField(max_length=60, blank=True, help_text="Whose key, in the buyer's words.")
    added_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lease", "fingerprint"],
                condition=Q(removed_at__isnull=True),
                name="access_key_once_per_lease",
            )
        ]

    def __str__(self) -> str:
        return self.fingerprint

    @property
    def line(self) -> str:
        """The key as one authorized_keys line."""
        return f"{self.algorithm} {self.data}" + (f" {self.comment}" if self.comment else "")
