"""Nodes, their cards and the times in which a node is looked after."""

from django.contrib.postgres.fields import DateTimeRangeField
from django.db import models
from django.db.models import Q

from catalog.models import Accelerator


class Node(models.Model):
    """A machine with cards of one accelerator."""

    name = models.CharField(max_length=60, unique=True)
    site = models.CharField(max_length=60)
    accelerator = models.ForeignKey(Accelerator, on_delete=models.PROTECT, related_name="+")
    host_arch = models.CharField(max_length=16)
    driver_version = models.CharField(max_length=20)
    topology = models.CharField(
        max_length=80, blank=True, help_text='How its cards are linked, such as "NVLink 4, 900 GB/s".'
    )
    stack_version = models.CharField(max_length=40, blank=True, help_text="What the driver brings.")
    healthy = models.BooleanField(
        default=True, help_text="The provider's word; off: nothing new is placed here."
    )
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


class MaintenanceWindow(models.Model):
    """A time in which nothing is placed on a node. Made only where no reservation stands in it."""

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="maintenance_windows")
    period = DateTimeRangeField()
    reason = models.CharField(max_length=200)
    made_by = models.CharField(max_length=150)
    made_at = models.DateTimeField()
    cancelled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(period__isempty=False), name="maintenance_period_not_empty")
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.period}"
