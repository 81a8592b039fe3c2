"""Rows that belong to no app: clock, event log, outbox, decisions, audit, mail, sweeps, restorations."""

from django.conf import settings
from django.db import models


class ClockOffset(models.Model):
    """One row: how far the demo's clock runs ahead. Outside the demo nobody reads it."""

    offset = models.DurationField()

    def __str__(self) -> str:
        return str(self.offset)


class Audience(models.TextChoices):
    BUYER = "buyer"
    STAFF = "staff"


class Event(models.Model):
    """The append-only log. `subject` is the thing ("lease:12"), `order_ref` the order it belongs to, as text."""

    name = models.CharField(max_length=60, db_index=True)
    subject = models.CharField(max_length=80)
    order_ref = models.CharField(max_length=60, blank=True, db_index=True)
    audience = models.CharField(max_length=8, choices=Audience.choices, default=Audience.BUYER)
    payload = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.name} {self.subject}"


class OutboxRow(models.Model):
    """One handler's copy of one event. Done rows stay as the proof that the handler ran once."""

    class Status(models.TextChoices):
        PENDING = "pending"
        DONE = "done"
        PARKED = "parked"

    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="outbox")
    handler = models.CharField(max_length=120)
    subject = models.CharField(max_length=80)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(help_text="System clock.")
    first_failed_at = models.DateTimeField(null=True, blank=True)
    last_error = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["event", "handler"], name="outbox_once_per_handler")]
        indexes = [
            models.Index(fields=["next_at"], name="outbox_due", condition=models.Q(status="pending")),
            models.Index(
                fields=["handler", "subject", "id"], name="outbox_order", condition=models.Q(status="pending")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.handler} <- {self.event_id}"


class Decision(models.Model):
    """Something that a person must decide. Closed once, by a service, with a reason."""

    kind = models.CharField(max_length=60)
    subject = models.CharField(max_length=80)
    order_ref = models.CharField(max_length=60, blank=True, db_index=True)
    facts = models.JSONField(default=dict)
    opened_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.CharField(max_length=150, blank=True)
    action = models.CharField(max_length=60, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["due_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"],
                condition=models.Q(closed_at__isnull=True),
                name="decision_open_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class AuditEntry(models.Model):
    """What a member of staff did: who, when, why, before and after."""

    actor = models.CharField(max_length=150)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=80)
    reason = models.TextField(blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"


class OutgoingMail(models.Model):
    """A mail to send; `key` makes it once however often a handler runs."""

    class Status(models.TextChoices):
        QUEUED = "queued"
        SENT = "sent"
        FAILED = "failed"

    key = models.CharField(max_length=150, unique=True)
    to = models.CharField(max_length=320)
    language = models.CharField(max_length=8, choices=settings.LANGUAGES)
    subject = models.CharField(max_length=250)
    text = models.TextField()
    order_ref = models.CharField(max_length=60, blank=True, db_index=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.QUEUED)
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(help_text="System clock.")
    claim_token = models.UUIDField(null=True, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True, help_text="System clock.")
    last_error = models.TextField(blank=True)
    queued_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["next_at"], name="mail_due", condition=models.Q(status="queued"))]

    def __str__(self) -> str:
        return f"{self.subject} -> {self.to}"


class LoginAttempt(models.Model):
    """A staff login that has failed or is under way, or a link that a partner's member asked for.

    Rows older than the window count for nothing and are removed.
    """

    account = models.CharField(
        max_length=64, help_text="Keyed hash: people type passwords into the wrong field."
    )
    network = models.CharField(max_length=64)
    at = models.DateTimeField(help_text="System clock.")

    class Meta:
        indexes = [models.Index(fields=["network", "at"], name="login_attempt_window")]

    def __str__(self) -> str:
        return f"{self.network} {self.at}"


class StaffSession(models.Model):
    """One browser that a member of staff is signed in with. It lives until it is ended, idle or too old."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="staff_sessions"
    )
    started_at = models.DateTimeField(help_text="System clock.")
    seen_at = models.DateTimeField(help_text="System clock.")
    verified_at = models.DateTimeField(null=True, blank=True, help_text="Second factor shown; system clock.")
    ended_at = models.DateTimeField(null=True, blank=True, help_text="System clock.")
    network = models.CharField(max_length=64)
    browser = models.CharField(max_length=40, blank=True)
    system = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["-seen_at", "-id"]
        indexes = [
            models.Index(
                fields=["user", "-seen_at"],
                name="staff_session_open",
                condition=models.Q(ended_at__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} {self.started_at}"


class SweepRun(models.Model):
    """The last run of a sweep, for /readyz and staff. System clock throughout."""

    name = models.CharField(max_length=60, primary_key=True)
    last_started_at = models.DateTimeField(null=True, blank=True)
    last_finished_at = models.DateTimeField(null=True, blank=True)
    last_product_at = models.DateTimeField(
        null=True, blank=True, help_text="Product clock of the last full run."
    )
    last_error = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.name


class Restoration(models.Model):
    """This database was put back from a backup: what happened after `backup_at` is unknown to it. System clock."""

    backup_at = models.DateTimeField()
    restored_at = models.DateTimeField()
    version = models.CharField(max_length=40, help_text="Of the program that made the backup.")

    def __str__(self) -> str:
        return f"backup of {self.backup_at:%Y-%m-%d %H:%M} UTC"


class RestorationStep(models.Model):
    """One thing that was looked through after a restoration: until it is there, what depends on it waits."""

    restoration = models.ForeignKey(Restoration, on_delete=models.PROTECT, related_name="steps")
    name = models.CharField(max_length=120)
    facts = models.JSONField(default=dict)
    done_at = models.DateTimeField(help_text="System clock.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["restoration", "name"], name="restoration_step_once")]

    def __str__(self) -> str:
        return self.name
