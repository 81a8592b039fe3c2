"""What keeps a card off sale: holds and their reservations."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import Q

from catalog.models import Lot
from fleet.lifecycle import ReservationStatus
from fleet.models.machines import Card


class Hold(models.Model):
    """Cards kept off sale for one order (`ref`). Counted by an opaque owner and a network prefix, never by mail."""

    ref = models.CharField(max_length=60, unique=True)
    owner = models.CharField(max_length=120, db_index=True)
    prefix = models.CharField(max_length=60, blank=True, db_index=True)
    lot = models.ForeignKey(Lot, on_delete=models.PROTECT, related_name="+")
    lots = models.PositiveSmallIntegerField()
    card_count = models.PositiveSmallIntegerField()
    driver_minimum = models.CharField(max_length=20, blank=True)
    extends = models.ForeignKey(
        "fleet.Lease",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="extension_holds",
        help_text="The lease that this hold makes longer, on the same cards.",
    )
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
        indexes = [
            # All bounds are counted over open holds; the others grow with every year.
            models.Index(
                fields=["release_at"],
                name="hold_unpaid",
                condition=Q(committed_at__isnull=True, released_at__isnull=True),
            )
        ]
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
        indexes = [
            # What a card is taken for now and later, without its past.
            models.Index(
                fields=["card"],
                name="reservation_living",
                condition=Q(status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED]),
            )
        ]
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
