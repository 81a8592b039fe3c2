"""Environments that can be put on a node, with everything that decides whether one runs on a card."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from catalog.models.accelerator import HostArch, Stack
from catalog.validators import CODE_MAX_LENGTH, validate_code, validate_target, validate_version


class Image(models.Model):
    code = models.CharField(_("code"), max_length=CODE_MAX_LENGTH, unique=True, validators=[validate_code])
    name = models.CharField(_("name"), max_length=100)
    description = models.TextField(_("description"), blank=True, default="")
    targets = ArrayField(
        models.CharField(max_length=20, validators=[validate_target]), verbose_name=_("built for")
    )
    host_archs = ArrayField(
        models.CharField(max_length=10, choices=HostArch.choices), verbose_name=_("host architectures")
    )
    stack = models.CharField(_("software stack"), max_length=8, choices=Stack.choices)
    stack_version = models.CharField(_("stack version"), max_length=20, validators=[validate_version])
    driver_minimum = models.CharField(
        _("oldest driver"), max_length=20, null=True, blank=True, validators=[validate_version]
    )
    on_sale = models.BooleanField(_("on sale"), default=True)

    class Meta:
        ordering = ("code",)
        verbose_name = _("environment")
        verbose_name_plural = _("environments")
        constraints = [
            models.CheckConstraint(condition=models.Q(stack__in=Stack.values), name="image_stack_known"),
            models.CheckConstraint(condition=models.Q(targets__len__gte=1), name="image_targets_not_empty"),
            models.CheckConstraint(
                condition=models.Q(host_archs__len__gte=1), name="image_host_archs_not_empty"
            ),
        ]

    def __str__(self) -> str:
        return self.name
