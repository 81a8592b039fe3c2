"""Nodes and cards, holds and reservations, leases and their access keys."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import Q

from catalog.models import Accelerator, Lot
from fleet.lifecycle import LeaseStatus, ReservationStatus


class Node(models.Model):
    """A machine with cards of one accelerator."""

    name = models.CharField(max_length=60, unique=True)
    site = models.CharField(max_length=60)
    accelerator = models.ForeignKey(Accelerator, on_delete=models.PROTECT, related_name="+")
    host_arch = models.CharField(max_length=16)
    driver_version = models.CharField(max_length=20)
    in_service = models.BooleanField(default=True, help_text="Off: nothing new is placed here.")
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Card(models.Model):
    """One physical accelerator. Its row is what booking locks."""

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="cards")
    index = models.PositiveSmallIntegerField()
    serial = models.CharField(max_length=60, unique=True)
    healthy = models.BooleanField(default=True)
    in_service = models.BooleanField(default=True)
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["node", "index"]
        constraints = [models.UniqueConstraint(fields=["node", "index"], name="card_index_once_per_node")]

    def __str__(self) -> str:
        return self.serial


class Hold(models.Model):
    """Cards kept off sale for one order (`ref`). Counted by an opaque owner and a network prefix, never by mail."""

    ref = models.CharField(max_length=60, unique=True)
    owner = models.CharField(max_length=120, db_index=True)
    prefix = models.CharField(max_length=60, blank=True, db_index=True)
    lot = models.ForeignKey(Lot, on_delete=models.PROTECT, related_name="+")
    lots = models.PositiveSmallIntegerField()
    card_count = models.PositiveSmallIntegerField()
    driver_minimum = models.CharField(max_length=20, blank=True)
    term_seconds = models.PositiveIntegerField()
    starts_at = models.DateTimeField(
        null=True, blank=True, help_text="Chosen start; empty: as soon as possible."
    )
    placed_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    release_at = models.DateTimeField(db_index=True)
    committed_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(card_count__gt=0) & Q(lots__gt=0), name="hold_not_empty"),
            models.CheckConstraint(
                condition=Q(release_at__gte=models.F("placed_at")), name="hold_time_order"
            ),
        ]

    def __str__(self) -> str:
        return self.ref

    @property
    def is_open(self) -> bool:
        """Held and neither paid nor let go."""
        return self.committed_at is None and self.released_at is None


class Reservation(models.Model):
    """One card for one period. The exclusion constraint is the last word against selling a card twice."""

    card = models.ForeignKey(Card, on_delete=models.PROTECT, related_name="reservations")
    hold = models.ForeignKey(Hold, on_delete=models.PROTECT, related_name="reservations")
    period = DateTimeRangeField()
    status = models.CharField(
        max_length=10, choices=ReservationStatus.choices, default=ReservationStatus.HELD
    )
    left_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The lease moved to another card; this one stays off sale until the old machine is wiped.",
    )

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="reservation_no_overlap",
                expressions=[("card", RangeOperators.EQUAL), ("period", RangeOperators.OVERLAPS)],
                condition=Q(status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED]),
            ),
            models.CheckConstraint(condition=Q(period__isempty=False), name="reservation_period_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.card_id} {self.status}"


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
