"""Bank cards: sessions that we open, events that come in, and what a re-read said."""

from django.db import models
from django.db.models import Q

from billing.models.payments import PaymentRequest
from core.fields import UnitsField


class CardSession(models.Model):
    """One checkout session at the card processor. The row is the job: a worker opens, reads and expires it."""

    class Status(models.TextChoices):
        WANTED = "wanted", "a worker is to open it"
        OPEN = "open"
        COMPLETE = "complete", "the buyer has paid or a delayed payment is on its way"
        ENDED = "ended", "expired at the processor"
        FAILED = "failed", "could not be opened"

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="card_sessions")
    attempt = models.PositiveSmallIntegerField()
    session_id = models.CharField(max_length=120, blank=True)
    url = models.TextField(blank=True)
    language = models.CharField(max_length=8)
    amount_minor = UnitsField()
    currency = models.CharField(max_length=3)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WANTED)
    superseded_at = models.DateTimeField(
        null=True, blank=True, help_text="No longer wanted: to be expired at the processor."
    )
    wanted_at = models.DateTimeField()
    expires_at = models.DateTimeField(help_text="The session ends with the hold.")
    next_at = models.DateTimeField(help_text="System clock: when the next step may be tried.")
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True)
    claim_token = models.UUIDField(null=True, blank=True)
    claim_until = models.DateTimeField(null=True, blank=True, help_text="System clock.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["payment", "attempt"], name="card_session_attempt_once"),
            models.UniqueConstraint(
                fields=["session_id"], condition=~Q(session_id=""), name="card_session_id_once"
            ),
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="card_session_positive"),
        ]

    def __str__(self) -> str:
        return self.session_id or f"{self.payment_id} #{self.attempt}"


class CardEvent(models.Model):
    """An event of the card processor as it came, stored before anything is done with it; once by its id."""

    event_id = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=80)
    session_id = models.CharField(max_length=120, blank=True, db_index=True)
    payment_intent = models.CharField(max_length=120, blank=True, db_index=True)
    livemode = models.BooleanField()
    body = models.JSONField()
    received_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True, blank=True)
    next_at = models.DateTimeField(help_text="System clock.")
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"{self.kind} {self.event_id}"


class CardFact(models.Model):
    """What the processor said when it was asked about a session, a refund or a dispute. Append-only."""

    class Kind(models.TextChoices):
        SESSION = "session"
        REFUND = "refund"
        DISPUTE = "dispute"

    payment = models.ForeignKey(PaymentRequest, on_delete=models.PROTECT, related_name="card_facts")
    session = models.ForeignKey(
        CardSession, null=True, blank=True, on_delete=models.PROTECT, related_name="facts"
    )
    kind = models.CharField(max_length=8, choices=Kind.choices)
    reference = models.CharField(max_length=120, help_text="Id at the processor: cs_, re_, dp_.")
    payment_intent = models.CharField(max_length=120, blank=True)
    status = models.CharField(max_length=40)
    payment_status = models.CharField(max_length=40, blank=True)
    amount_minor = UnitsField()
    currency = models.CharField(max_length=3)
    livemode = models.BooleanField()
    problem = models.CharField(
        max_length=200, blank=True, help_text="Why this money does not count by itself."
    )
    read_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["payment", "kind", "reference", "-id"], name="card_fact_latest"),
            # Staff are given an id of the processor and look for its order.
            models.Index(fields=["reference"], name="card_fact_by_reference"),
            models.Index(fields=["payment_intent"], name="card_fact_by_intent"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.reference} {self.status}"
