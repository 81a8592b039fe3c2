"""One accelerator model with sourced specifications: null is "not found", 0 is "the hardware has none"."""

from decimal import Decimal

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from catalog.validators import CODE_MAX_LENGTH, validate_code, validate_target, validate_version


class Stack(models.TextChoices):
    CUDA = "CUDA", "CUDA"
    ROCM = "ROCm", "ROCm"


class HostArch(models.TextChoices):
    X86_64 = "x86_64", "x86_64"
    AARCH64 = "aarch64", "aarch64"


class Grade(models.TextChoices):
    VENDOR = "V", _("written by the vendor")
    COPY = "C", _("copy of a vendor data sheet")
    SECONDARY = "S", _("secondary source")


class Accelerator(models.Model):
    slug = models.CharField(_("slug"), max_length=CODE_MAX_LENGTH, unique=True, validators=[validate_code])
    name = models.CharField(_("name"), max_length=100)
    vendor = models.CharField(_("vendor"), max_length=50)
    architecture = models.CharField(_("architecture"), max_length=50)

    # Vendor units: GB is 10^9 bytes. usable_gib is what a program was seen to get, in 2^30 bytes.
    memory_gb = models.PositiveIntegerField(_("memory, GB"), null=True, blank=True)
    usable_gib = models.DecimalField(
        _("usable memory, GiB"), max_digits=8, decimal_places=2, null=True, blank=True
    )
    memory_type = models.CharField(_("memory type"), max_length=30, null=True, blank=True)
    bandwidth_gb_s = models.PositiveIntegerField(_("memory bandwidth, GB/s"), null=True, blank=True)
    bf16_dense_tflops = models.PositiveIntegerField(_("bf16 rate, dense, TFLOPS"), null=True, blank=True)
    fp8_dense_tflops = models.PositiveIntegerField(_("fp8 rate, dense, TFLOPS"), null=True, blank=True)
    fp4_dense_tflops = models.PositiveIntegerField(_("fp4 rate, dense, TFLOPS"), null=True, blank=True)
    board_power_w = models.PositiveIntegerField(_("board power, W"), null=True, blank=True)
    link = models.CharField(_("card to card link"), max_length=100, null=True, blank=True)
    link_gb_s = models.DecimalField(
        _("link rate, GB/s"), max_digits=8, decimal_places=1, null=True, blank=True
    )
    cores = models.JSONField(_("cores by kind"), default=dict, blank=True)

    stack = models.CharField(_("software stack"), max_length=8, choices=Stack.choices)
    stack_minimum = models.CharField(
        _("oldest stack version"), max_length=20, null=True, blank=True, validators=[validate_version]
    )
    driver_minimum = models.CharField(
        _("oldest driver"), max_length=20, null=True, blank=True, validators=[validate_version]
    )
    target = models.CharField(_("build target"), max_length=20, validators=[validate_target])
    host_arch = models.CharField(_("host architecture"), max_length=10, choices=HostArch.choices)

    grade = models.CharField(_("grade of the sources"), max_length=1, choices=Grade.choices)
    conflict = models.TextField(_("where sources disagree"), blank=True, default="")
    sources = ArrayField(models.CharField(max_length=300), verbose_name=_("sources"), default=list)

    # Working figure: it reaches a buyer only through a published price table.
    card_hour_amount = models.DecimalField(
        _("price of a card-hour before the discount of the term"),
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal("0.0001"))],
        help_text=_("Empty means shown, but not on sale. Changed in the price draft."),
    )

    class Meta:
        ordering = ("memory_gb", "slug")
        verbose_name = _("accelerator")
        verbose_name_plural = _("accelerators")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(card_hour_amount__isnull=True) | models.Q(card_hour_amount__gt=0),
                name="accelerator_card_hour_amount_positive",
                violation_error_message=_("A price must be above zero."),
            ),
            models.CheckConstraint(
                condition=models.Q(usable_gib__isnull=True) | models.Q(usable_gib__gte=0),
                name="accelerator_usable_gib_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(link_gb_s__isnull=True) | models.Q(link_gb_s__gte=0),
                name="accelerator_link_gb_s_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(stack__in=Stack.values), name="accelerator_stack_known"
            ),
            models.CheckConstraint(
                condition=models.Q(host_arch__in=HostArch.values), name="accelerator_host_arch_known"
            ),
            models.CheckConstraint(
                condition=models.Q(grade__in=Grade.values), name="accelerator_grade_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name
