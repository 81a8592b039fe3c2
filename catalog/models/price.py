"""Published price tables: appended, never edited, so that a quote can name the table it was made from."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from catalog.models.lot import Lot, Term
from catalog.models.option import Option


class PriceVersion(models.Model):
    number = models.PositiveIntegerField(_("number"), unique=True)
    published_at = models.DateTimeField(_("published at"))
    currency = models.CharField(_("currency"), max_length=3)
    note = models.CharField(_("note"), max_length=300, blank=True, default="")
    published_by = models.CharField(_("published by"), max_length=150, blank=True, default="")

    class Meta:
        ordering = ("-number",)
        verbose_name = _("price table")
        verbose_name_plural = _("price tables")

    def __str__(self) -> str:
        return str(self.number)


class LotPrice(models.Model):
    """One rounded price of one lot for one term, with the figures that explain it."""

    version = models.ForeignKey(PriceVersion, on_delete=models.PROTECT, related_name="lot_prices")
    lot = models.ForeignKey(Lot, on_delete=models.PROTECT, related_name="prices")
    term = models.ForeignKey(Term, on_delete=models.PROTECT, related_name="prices")
    amount = models.DecimalField(_("amount"), max_digits=14, decimal_places=2)
    list_amount = models.DecimalField(_("amount without the discount"), max_digits=14, decimal_places=2)
    card_hour_amount = models.DecimalField(_("price of a card-hour"), max_digits=12, decimal_places=4)
    discount = models.DecimalField(_("discount, as a fraction"), max_digits=4, decimal_places=2)

    class Meta:
        verbose_name = _("price of a lot")
        verbose_name_plural = _("prices of lots")
        constraints = [
            models.UniqueConstraint(fields=("version", "lot", "term"), name="lotprice_once_per_version"),
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="lotprice_amount_positive"),
            models.CheckConstraint(
                condition=models.Q(list_amount__gte=models.F("amount")), name="lotprice_list_amount_not_below"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.lot_id}/{self.term_id}: {self.amount}"


class OptionPrice(models.Model):
    """One rounded price of one unit of an option for one term."""

    version = models.ForeignKey(PriceVersion, on_delete=models.PROTECT, related_name="option_prices")
    option = models.ForeignKey(Option, on_delete=models.PROTECT, related_name="prices")
    term = models.ForeignKey(Term, on_delete=models.PROTECT, related_name="option_prices")
    amount = models.DecimalField(_("amount per unit"), max_digits=14, decimal_places=2)

    class Meta:
        verbose_name = _("price of an option")
        verbose_name_plural = _("prices of options")
        constraints = [
            models.UniqueConstraint(
                fields=("version", "option", "term"), name="optionprice_once_per_version"
            ),
            models.CheckConstraint(condition=models.Q(amount__gte=0), name="optionprice_amount_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.option_id}/{self.term_id}: {self.amount}"
