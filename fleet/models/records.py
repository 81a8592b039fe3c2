"""What a lease leaves on record: reminders that were due, and the times in which cards were missing."""

from datetime import timedelta
from math import ceil

from django.db import models
from django.db.models import F, Q

from fleet.models.leases import Lease
from fleet.models.machines import Card


class Reminder(models.Model):
    """One notice before one end of one lease: told once, or passed over because its moment was gone."""

    lease = models.ForeignKey(Lease, on_delete=models.PROTECT, related_name="reminders")
    kind = models.CharField(max_length=8, help_text="How long before the end, such as 7d, 24h or 40m.")
    ends_at = models.DateTimeField(help_text="The end that it speaks of; an extension makes new ones.")
    told_at = models.DateTimeField(null=True, blank=True)
    passed_over_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lease", "ends_at", "kind"], name="reminder_once_per_end"),
            models.CheckConstraint(
                condition=Q(told_at__isnull=True) ^ Q(passed_over_at__isnull=True),
                name="reminder_told_or_not",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.lease_id} {self.kind}"


class Outage(models.Model):
    """One card that a lease paid for and did not have, from..to. Billing turns it into a credit by its key."""

    class Cause(models.TextChoices):
        CARD = "card", "the card dropped out"
        NODE = "node", "its node was away or restarted"
        MOVING = "moving", "the lease moved to whole cards"
        LATE = "late", "access opened after ready-by"

    lease = models.ForeignKey(Lease, on_delete=models.PROTECT, related_name="outages")
    card = models.ForeignKey(Card, on_delete=models.PROTECT, related_name="+")
    cause = models.CharField(max_length=8, choices=Cause.choices)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["began_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["lease", "card"], condition=Q(ended_at__isnull=True), name="outage_open_once_per_card"
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) | Q(ended_at__gte=F("began_at")), name="outage_forward"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.lease_id} {self.card_id} {self.cause}"

    @property
    def minutes(self) -> int:
        """Started minutes, 0 while it goes on."""
        if self.ended_at is None:
            return 0
        return ceil((self.ended_at - self.began_at) / timedelta(minutes=1))


class EngineSilence(models.Model):
    """A time in which the provider did not answer at all. One is open at most: there is one engine."""

    began_at = models.DateTimeField(help_text="Product clock: the first look without an answer.")
    began_system_at = models.DateTimeField(help_text="System clock.")
    looks = models.PositiveIntegerField(default=1, help_text="Looks in a row without an answer.")
    reason = models.TextField(blank=True)
    ended_at = models.DateTimeField(null=True, blank=True, help_text="Product clock.")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                models.Value(1), condition=Q(ended_at__isnull=True), name="engine_silence_one_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.began_at} {self.looks}"
