"""Quotes, which are frozen and signed, and the orders that accept them."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from catalog.models import Image, Lot
from orders import ids
from orders.lifecycle import OrderStatus, QuoteStatus


class Quote(models.Model):
    """A price that holds until `expires_at`. Everything that was shown is kept here and never recomputed."""

    public_id = models.CharField(max_length=40, unique=True, default=ids.quote_id)
    lot = models.ForeignKey(Lot, on_delete=models.PROTECT, related_name="+")
    lots = models.PositiveSmallIntegerField()
    days = models.PositiveSmallIntegerField()
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    options = models.JSONField(default=list, help_text='[{"code", "quantity"}]')
    starts_at = models.DateTimeField(null=True, blank=True)
    bill_to = models.JSONField()
    lines = models.JSONField()
    subtotal = models.DecimalField(max_digits=14, decimal_places=2)
    tax = models.DecimalField(max_digits=14, decimal_places=2)
    total = models.DecimalField(max_digits=14, decimal_places=2)
    currency = models.CharField(max_length=3)
    price_version = models.PositiveIntegerField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=QuoteStatus.choices, default=QuoteStatus.OPEN)
    accepted_at = models.DateTimeField(null=True, blank=True)
    expired_at = models.DateTimeField(null=True, blank=True)
    document = models.TextField(help_text="Canonical JSON (RFC 8785) that was signed.")
    signature = models.TextField(help_text="Ed25519 over the document, base64.")
    key_id = models.CharField(max_length=60)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(total=F("subtotal") + F("tax")), name="quote_adds_up"),
            models.CheckConstraint(condition=Q(total__gte=0), name="quote_not_negative"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="quote_time_order"),
            models.CheckConstraint(condition=Q(status__in=QuoteStatus.values), name="quote_status_known"),
        ]

    def __str__(self) -> str:
        return self.public_id


class Order(models.Model):
    """One accepted quote. `owner` is opaque; `mail_to` is the only address that order and billing write to."""

    class Notify(models.TextChoices):
        BUYER = "buyer"
        PARTNER = "partner"

    public_id = models.CharField(max_length=40, unique=True, default=ids.order_id)
    token = models.CharField(max_length=64, unique=True, default=ids.page_token)
    quote = models.OneToOneField(Quote, on_delete=models.PROTECT, related_name="order")
    extends = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="extensions"
    )
    owner = models.CharField(max_length=120, db_index=True)
    contact_name = models.CharField(max_length=200)
    contact_email = models.CharField(max_length=320)
    contact_company = models.CharField(max_length=200, blank=True)
    contact_language = models.CharField(max_length=8, choices=settings.LANGUAGES)
    mail_to = models.CharField(max_length=320)
    mail_language = models.CharField(max_length=8, choices=settings.LANGUAGES)
    notify = models.CharField(max_length=8, choices=Notify.choices, default=Notify.BUYER)
    ssh_keys = models.JSONField(help_text="[{algorithm, data, comment, fingerprint}]")
    terms_version = models.CharField(max_length=40)
    terms_accepted_at = models.DateTimeField()
    status = models.CharField(
        max_length=20, choices=OrderStatus.choices, default=OrderStatus.AWAITING_PAYMENT
    )
    placed_at = models.DateTimeField()
    hold_expires_at = models.DateTimeField(help_text="Until when the cards are held for payment.")
    offered_until = models.DateTimeField(
        null=True, blank=True, help_text="Money came late: until when a lot is kept for the buyer's choice."
    )
    paid_at = models.DateTimeField(null=True, blank=True)
    provisioning_at = models.DateTimeField(null=True, blank=True)
    active_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    expired_at = models.DateTimeField(null=True, blank=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the buyer's personal data were erased. Nothing is mailed since.",
    )

    class Meta:
        ordering = ["-id"]
        permissions = [
            ("export_order", "Can take out tables as files"),
            ("export_person", "Can find a buyer and take out what is kept on him"),
            ("erase_person", "Can erase the personal data of a buyer"),
        ]
        indexes = [
            models.Index(Lower("mail_to"), name="order_mail_to_folded"),
            # Staff are given the buyer's address also where the mails go to his partner.
            models.Index(Lower("contact_email"), name="order_contact_folded"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=OrderStatus.values), name="order_status_known"),
            models.CheckConstraint(
                condition=~Q(status=OrderStatus.PAID) | Q(paid_at__isnull=False), name="order_paid_has_time"
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    def get_absolute_url(self) -> str:
        """The buyer's page, in the buyer's language, without host."""
        return f"/{self.contact_language}/orders/{self.token}/"


class OrderSearch(models.Model):
    """Somebody asked for the links to the orders of an address. Removed when it no longer counts; system clock."""

    address = models.CharField(max_length=320)
    prefix = models.CharField(max_length=64, help_text="Network that asked: a /24 or /48.")
    at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(
        null=True, blank=True, help_text="Empty: no orders, or a mail just before."
    )

    class Meta:
        verbose_name_plural = "order searches"
        indexes = [models.Index(fields=["prefix", "at"], name="order_search_window")]

    def __str__(self) -> str:
        return f"{self.prefix} {self.at}"
