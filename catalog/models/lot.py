"""The unit of sale (N cards of one node) and the terms for which it is sold."""

from decimal import Decimal

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from catalog import sizes
from catalog.models.accelerator import Accelerator
from catalog.validators import CODE_MAX_LENGTH, validate_code


class Lot(models.Model):
    code = models.CharField(_("code"), max_length=CODE_MAX_LENGTH, unique=True, validators=[validate_code])
    accelerator = models.ForeignKey(
        Accelerator, on_delete=models.PROTECT, related_name="lots", verbose_name=_("accelerator")
    )
    cards = models.PositiveIntegerField(
        _("cards per lot"), validators=[MinValueValidator(1), MaxValueValidator(64)]
    )
    # Of one lot, not of the whole node. Null is "unknown".
    vcpu = models.PositiveIntegerField(_("vCPU"), null=True, blank=True)
    ram_gb = models.PositiveIntegerField(_("RAM, GB"), null=True, blank=True)
    nvme_gb = models.PositiveIntegerField(_("local NVMe, GB"), null=True, blank=True)
    uplink_gbit_s = models.PositiveIntegerField(_("uplink, Gbit/s"), null=True, blank=True)
    specs_are_demo = models.BooleanField(
        _("host figures are demo data"),
        default=False,
        help_text=_("vCPU, RAM, NVMe and uplink describe no real machine; pages say so."),
    )
    on_sale = models.BooleanField(_("on sale"), default=True)

    class Meta:
        ordering = ("accelerator", "cards")
        verbose_name = _("lot")
        verbose_name_plural = _("lots")
        constraints = [
            models.UniqueConstraint(fields=("accelerator", "cards"), name="lot_accelerator_cards_unique"),
            models.CheckConstraint(
                condition=models.Q(cards__gte=1, cards__lte=64), name="lot_cards_in_range"
            ),
        ]

    def __str__(self) -> str:
        return self.code

    def clean(self) -> None:
        """The code names the cards: another size is another lot, so that old orders keep their meaning. What is on
        sale can be had: where nodes are sold whole, a lot is one."""
        if not hasattr(self, "accelerator"):
            return  # the form already says that it is missing
        expected = f"{self.accelerator.slug}x{self.cards}"
        if self.code != expected:
            raise ValidationError(
                {"code": _("The code of this lot must be %(code)s.") % {"code": expected}}, code="lot_code"
            )
        why = sizes.refusal(accelerator=self.accelerator.slug, cards=self.cards) if self.on_sale else ""
        if why:
            raise ValidationError({"on_sale": why}, code="lot_size")


class Term(models.Model):
    """A length of rent: days of exactly 24 hours."""

    days = models.PositiveIntegerField(
        _("days"), unique=True, validators=[MinValueValidator(1), MaxValueValidator(366)]
    )
    discount = models.DecimalField(
        _("discount, as a fraction"),
        max_digits=4,
        decimal_places=2,
        default=Decimal("0.00"),
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal("0.99"))],
        help_text=_("0.07 is 7 %. Changed in the price draft."),
    )
    meant_for = models.CharField(_("meant for"), max_length=200, blank=True, default="")

    class Meta:
        ordering = ("days",)
        verbose_name = _("term")
        verbose_name_plural = _("terms")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(discount__gte=0, discount__lt=1),
                name="term_discount_in_range",
                violation_error_message=_("A discount lies between 0 and 0.99."),
            ),
            models.CheckConstraint(condition=models.Q(days__gte=1, days__lte=366), name="term_days_in_range"),
        ]

    def __str__(self) -> str:
        return str(self.days)
