"""What the data files said at the last seed: lets a repeated seed tell a new fact from an operator's edit."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class SeededRow(models.Model):
    kind = models.CharField(max_length=20)
    code = models.CharField(max_length=64)
    values = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("seeded row")
        verbose_name_plural = _("seeded rows")
        constraints = [models.UniqueConstraint(fields=("kind", "code"), name="seededrow_kind_code_unique")]

    def __str__(self) -> str:
        return f"{self.kind} {self.code}"
