"""Whose order is whose, whose event, and the answers that an idempotency key gets again."""

from django.db import models

from core.models import Event
from orders.models import Order
from partners.models.accounts import Partner


class PartnerOrder(models.Model):
    """The one table of ownership: every read of orders for a partner starts here."""

    order = models.OneToOneField(Order, on_delete=models.PROTECT, related_name="+")
    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="orders")
    metadata = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["partner", "-order"], name="partner_order_list")]

    def __str__(self) -> str:
        return f"order {self.order_id} of partner {self.partner_id}"


class PartnerEvent(models.Model):
    """Which events of the log are a partner's: those of his orders that buyers may know of.

    The database writes it in the statement that writes the event, or the ownership (docs/adr/0010): so it is never
    behind, and a partner's list is one part of one index, however many events the others have.
    """

    event = models.OneToOneField(Event, primary_key=True, on_delete=models.PROTECT, related_name="+")
    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        indexes = [models.Index(fields=["partner", "event"], name="partner_event_list")]

    def __str__(self) -> str:
        return f"event {self.event_id} of partner {self.partner_id}"


class IdempotentRequest(models.Model):
    """One idempotency key of one partner: in progress while `status_code` is empty and `locked_until` lies ahead.

    The answer is written in the transaction of the effect. System clock: this is about requests, not about terms.
    """

    partner = models.ForeignKey(Partner, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    endpoint = models.CharField(max_length=300, help_text="Method and path.")
    body_hash = models.CharField(max_length=64)
    made_at = models.DateTimeField()
    token = models.UUIDField(help_text="Of the request that works on it.")
    locked_until = models.DateTimeField()
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["partner", "key"], name="idempotency_key_once")]
        indexes = [models.Index(fields=["made_at"], name="idempotency_age")]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.key}"
