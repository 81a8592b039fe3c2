"""Partners who resell, the people who act for them, and the keys with which their programs speak to the API."""

from datetime import datetime

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from partners.scopes import Scope


def default_hold_orders() -> int:
    """Of a new partner; then the number is his own."""
    return int(settings.PARTNER_HOLD_ORDERS)


def default_hold_cards() -> int:
    """As above."""
    return int(settings.PARTNER_HOLD_CARDS)


class Partner(models.Model):
    """An account. Its holds are bounded by the numbers on its own row, not by network prefix."""

    name = models.CharField(_("name"), max_length=120)
    slug = models.SlugField(_("slug"), max_length=60, unique=True)
    mail = models.EmailField(
        _("mail"), max_length=254, help_text=_("Gets the mails of orders with notify = partner.")
    )
    mail_language = models.CharField(
        _("language of mails"), max_length=8, choices=settings.LANGUAGES, default="en"
    )
    hold_orders = models.PositiveIntegerField(
        _("unpaid orders at once"),
        default=default_hold_orders,
        validators=[MinValueValidator(0), MaxValueValidator(10_000)],
    )
    hold_cards = models.PositiveIntegerField(
        _("unpaid cards at once"),
        default=default_hold_cards,
        validators=[MinValueValidator(0), MaxValueValidator(100_000)],
    )
    active = models.BooleanField(_("active"), default=True, help_text=_("Off: no key of this partner works."))
    created_at = models.DateTimeField(_("created at"), editable=False)

    class Meta:
        ordering = ["name"]
        verbose_name = _("partner")
        verbose_name_plural = _("partners")

    def __str__(self) -> str:
        return self.name

    @property
    def is_authenticated(self) -> bool:
        """The API takes a partner as the user of a request."""
        return True

    @property
    def owner(self) -> str:
        """The opaque owner of this partner's orders and holds."""
        return f"partner:{self.pk}"


class Member(models.Model):
    """A person who acts for a partner in its pages. Logs in by a link that is mailed; there is no password to steal."""

    partner = models.ForeignKey(
        Partner, on_delete=models.PROTECT, related_name="members", verbose_name=_("partner")
    )
    name = models.CharField(_("name"), max_length=120)
    mail = models.EmailField(_("mail"), max_length=254)
    language = models.CharField(_("language"), max_length=8, choices=settings.LANGUAGES, default="en")
    active = models.BooleanField(_("active"), default=True)
    created_at = models.DateTimeField(_("created at"), editable=False)
    last_login_at = models.DateTimeField(_("last login at"), null=True, blank=True, editable=False)

    class Meta:
        ordering = ["partner", "mail"]
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [
            models.UniqueConstraint(Lower("mail"), "partner", name="member_once_per_partner"),
        ]

    def __str__(self) -> str:
        return self.mail


class LoginLink(models.Model):
    """One mailed link. Only its hash is kept; it works once and for minutes. System clock throughout."""

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="login_links")
    hash = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("made_at")), name="login_link_time_order"
            )
        ]

    def __str__(self) -> str:
        return f"login link of member {self.member_id}"


class ApiKey(models.Model):
    """One key. Only the hash is kept: the text is shown once, when the key is made.

    A plain SHA-256 is right here and a slow password hash is not: the secret has 256 random bits, so that
    nobody can try guesses against a stolen hash, and every request has to look it up.
    """

    partner = models.ForeignKey(
        Partner, on_delete=models.PROTECT, related_name="keys", verbose_name=_("partner")
    )
    note = models.CharField(_("note"), max_length=120, blank=True)
    prefix = models.CharField(_("begins with"), max_length=20)
    hash = models.CharField(_("SHA-256"), max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=30, choices=Scope.choices), verbose_name=_("scopes"))
    made_by = models.CharField(_("made by"), max_length=150, blank=True)
    replaces = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        verbose_name=_("in place of"),
        help_text=_("The key that this one was rotated from; both work until the older expires."),
    )
    created_at = models.DateTimeField(_("created at"))
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__isnull=True) | models.Q(expires_at__gt=models.F("created_at")),
                name="api_key_time_order",
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    def is_expired(self, moment: datetime) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= moment
