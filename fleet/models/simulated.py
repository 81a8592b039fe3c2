"""The simulated engine's own rows, apart from ours."""

from django.db import models


class SimulatedMachine(models.Model):
    """The simulated engine's own record, apart from ours: what it granted, by lease id (its idempotency key).

    Only fleet.providers.simulated reads or writes it, in transactions of its own, so that a crash between the
    engine's act and our record can really happen.
    """

    class State(models.TextChoices):
        RESERVED = "reserved"
        PREPARED = "prepared"
        OPEN = "open"
        ENDED = "ended"
        WIPED = "wiped"

    lease_id = models.BigIntegerField(unique=True)
    node_names = models.JSONField()
    cards = models.JSONField(help_text="[{node, index, serial, model, healthy}]")
    username = models.CharField(max_length=32)
    image = models.CharField(max_length=60)
    members = models.JSONField(default=list, help_text="Fingerprints that may log in.")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.RESERVED)
    wiped_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.username} {self.state}"


class SimulatedFault(models.Model):
    """A fault that the simulated engine shows on purpose, for tests and for the demo's staff page."""

    class Kind(models.TextChoices):
        DELAY = "delay", "answers late"
        REFUSE = "refuse", "refuses"
        TIME_OUT_AFTER = "time_out_after", "acts, then times out"
        WRONG_MODEL = "wrong_model", "shows another model"
        CARD_MISSING = "card_missing", "one card is missing"
        CARD_UNHEALTHY = "card_unhealthy", "one card is unhealthy"
        NODE_AWAY = "node_away", "the node is away"
        WIPE_FAILS = "wipe_fails", "the wipe fails"

    kind = models.CharField(max_length=16, choices=Kind.choices)
    verb = models.CharField(
        max_length=16, blank=True, help_text="Only this verb; empty: each that it can befall."
    )
    lease_id = models.BigIntegerField(null=True, blank=True, help_text="Only this lease; empty: any.")
    card_serial = models.CharField(max_length=60, blank=True, help_text="Which card; empty: the first.")
    node_name = models.CharField(max_length=60, blank=True, help_text="Only on this node; empty: any.")
    seconds = models.FloatField(default=0, help_text="How long a delay lasts.")
    uses_left = models.PositiveIntegerField(
        null=True, blank=True, help_text="Empty: until it is switched off."
    )
    made_by = models.CharField(max_length=150)
    made_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.verb}".strip()
