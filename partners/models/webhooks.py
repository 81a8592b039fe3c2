"""Webhook endpoints of partners, what is to be told to them, and each attempt to tell it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from core.models import Event
from partners import ids
from partners.models.accounts import Partner


class WebhookEndpoint(models.Model):
    """An address that hears events. The secret is kept as text, because every delivery is signed with it."""

    class Status(models.TextChoices):
        ACTIVE = "active", _("active")
        PAUSED = "paused", _("paused")
        DELETED = "deleted", _("deleted")

    public_id = models.CharField(max_length=40, unique=True, default=ids.endpoint_id)
    partner = models.ForeignKey(
        Partner, on_delete=models.PROTECT, related_name="endpoints", verbose_name=_("partner")
    )
    url = models.CharField(_("address"), max_length=2000)
    note = models.CharField(_("note"), max_length=200, blank=True)
    events = ArrayField(
        models.CharField(max_length=60),
        default=list,
        verbose_name=_("events"),
        help_text=_("None: all events."),
    )
    status = models.CharField(_("status"), max_length=8, choices=Status.choices, default=Status.ACTIVE)
    secret = models.CharField(max_length=100, editable=False)
    former_secret = models.CharField(max_length=100, blank=True, editable=False)
    former_secret_until = models.DateTimeField(null=True, blank=True, help_text="System clock.")
    created_at = models.DateTimeField(_("created at"), editable=False)
    failing_since = models.DateTimeField(null=True, blank=True, help_text="System clock.")
    paused_at = models.DateTimeField(null=True, blank=True, help_text="System clock.")

    class Meta:
        ordering = ["id"]
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")

    def __str__(self) -> str:
        return self.public_id


class WebhookDelivery(models.Model):
    """One event for one endpoint. `body` is frozen when the row is made: every attempt sends the same bytes.

    `event` is empty for a test event. `subject` is the thing for which order is kept. Times are of the system clock.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("pending")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("failed")

    public_id = models.CharField(max_length=40, unique=True, default=ids.delivery_id)
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.PROTECT, related_name="deliveries")
    event = models.ForeignKey(Event, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    event_name = models.CharField(max_length=60)
    message_id = models.CharField(max_length=60, help_text="webhook-id: the same for every attempt.")
    subject = models.CharField(max_length=80)
    body = models.TextField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    made_at = models.DateTimeField()
    next_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True, blank=True)
    claim_token = models.UUIDField(null=True, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "event"], name="delivery_once_per_event"),
        ]
        indexes = [
            models.Index(fields=["next_at"], name="delivery_due", condition=models.Q(status="pending")),
            models.Index(
                fields=["endpoint", "subject", "id"],
                name="delivery_order",
                condition=models.Q(status="pending"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_name} -> {self.endpoint_id}"


class DeliveryAttempt(models.Model):
    """One try: what came back, without the body of the answer. System clock."""

    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.CASCADE, related_name="tries")
    number = models.PositiveIntegerField()  # a message may be redelivered for ever
    at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.CharField(max_length=60, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["delivery", "number"], name="delivery_attempt_once"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery_id}"
