"""Rows of the catalogue for tests; the whole demo catalogue comes from catalog.services.seed."""

# mypy: disable-error-code="no-untyped-call"
# The declarations of factory-boy carry no types; the rows that `create` returns do.

from decimal import Decimal

from factory.declarations import LazyAttribute, LazyFunction, Sequence, SubFactory
from factory.django import DjangoModelFactory

from catalog.models import Accelerator, Image, Lot, Option, Term


class AcceleratorFactory(DjangoModelFactory[Accelerator]):
    class Meta:
        model = Accelerator
        django_get_or_create = ("slug",)

    slug = Sequence(lambda n: f"card-{n}")
    name = LazyAttribute(lambda o: f"Test {o.slug}")
    vendor = "NVIDIA"
    architecture = "Hopper"
    memory_gb = 80
    memory_type = "HBM3"
    bandwidth_gb_s = 3350
    bf16_dense_tflops = 989
    fp8_dense_tflops = 1979
    fp4_dense_tflops = 0
    stack = "CUDA"
    stack_minimum = "11.8"
    target = "sm_90"
    host_arch = "x86_64"
    grade = "V"
    sources = LazyFunction(lambda: ["a data sheet"])
    card_hour_amount = Decimal("2.00")


class LotFactory(DjangoModelFactory[Lot]):
    class Meta:
        model = Lot
        django_get_or_create = ("code",)

    accelerator = SubFactory(AcceleratorFactory)
    cards = 1
    code = LazyAttribute(lambda o: f"{o.accelerator.slug}x{o.cards}")


class TermFactory(DjangoModelFactory[Term]):
    class Meta:
        model = Term
        django_get_or_create = ("days",)

    days = 3
    discount = Decimal("0.00")


class OptionFactory(DjangoModelFactory[Option]):
    class Meta:
        model = Option
        django_get_or_create = ("code",)

    code = Sequence(lambda n: f"option-{n}")
    name = LazyAttribute(lambda o: f"Option {o.code}")
    unit = "TB"
    recurring = True
    max_quantity = 10
    unit_amount = Decimal("1.20")


class ImageFactory(DjangoModelFactory[Image]):
    class Meta:
        model = Image
        django_get_or_create = ("code",)

    code = Sequence(lambda n: f"image-{n}")
    name = LazyAttribute(lambda o: f"Image {o.code}")
    targets = LazyFunction(lambda: ["sm_90"])
    host_archs = LazyFunction(lambda: ["x86_64"])
    stack = "CUDA"
    stack_version = "12.8"
    driver_minimum = "570"
