"""The next price table while it is being written. One draft is open at a time, whoever writes it: two would each
undo the other when they are published, and neither preview would be true.
"""

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from catalog.models.price import PriceVersion


class PriceDraft(models.Model):
    base = models.ForeignKey(
        PriceVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("made from price table"),
    )
    # {"accelerator": {slug: "6.49"}, "term": {"30": "0.20"}, "option": {code: null}}: what differs, nothing else.
    figures = models.JSONField(_("changed figures"), default=dict)
    # Grows with each save: a page that was shown before another save cannot publish what it did not show.
    revision = models.PositiveIntegerField(_("revision"), default=1)
    opened_at = models.DateTimeField(_("opened at"))
    opened_by = models.CharField(_("opened by"), max_length=150)
    saved_at = models.DateTimeField(_("saved at"))
    saved_by = models.CharField(_("saved by"), max_length=150)
    closed_at = models.DateTimeField(_("closed at"), null=True, blank=True)
    published = models.OneToOneField(
        PriceVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="draft",
        verbose_name=_("published as"),
    )

    class Meta:
        ordering = ("-id",)
        verbose_name = _("price draft")
        verbose_name_plural = _("price drafts")
        constraints = [
            # Every open draft has the same value here, so there is at most one.
            models.UniqueConstraint(
                Coalesce("published", Value(0)), condition=Q(closed_at=None), name="pricedraft_one_open"
            ),
            models.CheckConstraint(
                condition=Q(published=None) | Q(closed_at__isnull=False),
                name="pricedraft_published_is_closed",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)
