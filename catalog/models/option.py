"""What can be added to a lot; its price is added on top and never discounted."""

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from catalog.models.lot import Lot
from catalog.validators import CODE_MAX_LENGTH, validate_code


class Option(models.Model):
    code = models.CharField(_("code"), max_length=CODE_MAX_LENGTH, unique=True, validators=[validate_code])
    name = models.CharField(_("name"), max_length=100)
    description = models.TextField(_("description"), blank=True, default="")
    needs = models.CharField(_("what the buyer must provide"), max_length=300, blank=True, default="")
    unit = models.CharField(_("unit"), max_length=30)
    recurring = models.BooleanField(
        _("recurring"),
        default=False,
        help_text=_("Charged by day and taken over by an extension. A one-off option is charged once."),
    )
    max_quantity = models.PositiveIntegerField(
        _("most units in one order"), default=1, validators=[MinValueValidator(1), MaxValueValidator(10_000)]
    )
    on_sale = models.BooleanField(_("on sale"), default=True)
    for_all_lots = models.BooleanField(_("for all lots"), default=True)
    lots = models.ManyToManyField(
        Lot, blank=True, related_name="options", verbose_name=_("only for these lots")
    )

    # Working figure, as on the accelerator: a buyer sees what was published.
    unit_amount = models.DecimalField(
        _("price of a unit, by day when recurring"),
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text=_("Empty means not on sale. Changed in the price draft."),
    )

    class Meta:
        ordering = ("code",)
        verbose_name = _("option")
        verbose_name_plural = _("options")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(unit_amount__isnull=True) | models.Q(unit_amount__gte=0),
                name="option_unit_amount_not_negative",
                violation_error_message=_("A price must not be negative."),
            ),
            models.CheckConstraint(
                condition=models.Q(max_quantity__gte=1, max_quantity__lte=10_000),
                name="option_max_quantity_in_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name
