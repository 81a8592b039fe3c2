"""Invoices and receipts: frozen data, a number without gaps, a PDF made from the data."""

from django.db import models
from django.db.models import F, Q

from orders.models import Order


class InvoiceSeries(models.Model):
    """The next number of one series. Its row is locked while a number is given, so that none is missing."""

    name = models.CharField(max_length=20, primary_key=True)
    next_number = models.PositiveIntegerField(default=1)

    def __str__(self) -> str:
        return self.name


class Invoice(models.Model):
    """A document as it was issued. Its data is never edited: a wrong one is cancelled by another and issued anew."""

    class Kind(models.TextChoices):
        INVOICE = "invoice"
        RECEIPT = "receipt"
        CANCELLATION = "cancellation"
        CREDIT_NOTE = "credit_note", "credit note"

    series = models.CharField(max_length=20)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=Kind.choices)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="invoices")
    key = models.CharField(max_length=80, help_text="What it is for, once per order.")
    token = models.CharField(max_length=64, unique=True)
    language = models.CharField(max_length=8)
    data = models.JSONField()
    cancels = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="cancelled_by"
    )
    issued_at = models.DateTimeField()
    pdf = models.BinaryField(null=True, blank=True)
    rendered_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(help_text="System clock.")
    last_error = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["series", "number"], name="invoice_number_once"),
            models.UniqueConstraint(fields=["order", "key"], name="invoice_once_per_key"),
            models.CheckConstraint(condition=Q(number__gt=0), name="invoice_number_positive"),
            models.CheckConstraint(
                condition=Q(cancels__isnull=True) | ~Q(cancels=F("id")), name="invoice_cancels_another"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.series}-{self.number:06d}"
