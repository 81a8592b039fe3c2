"""Shapes of answers. They only show: what is shown comes from selectors."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog.models.accelerator import Grade, HostArch, Stack
from catalog.offers import LotListing


class FieldErrorSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Dotted path into query or body.")
    code = serializers.CharField()
    detail = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """RFC 9457. Decide by `code`; `detail` is for people."""

    type = serializers.URLField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    errors = FieldErrorSerializer(many=True)  # type: ignore[assignment]
    request_id = serializers.CharField(help_text="Name it when you write to us.")
    order = serializers.CharField(
        required=False, help_text="Only with `quote_accepted` and `extension_open`: the order that is there."
    )


class PayWithSerializer(serializers.Serializer[Any]):
    rail = serializers.CharField()
    network = serializers.CharField()
    asset = serializers.CharField()


class RootSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.CharField()
    currency = serializers.CharField(help_text="The one currency of all amounts, ISO 4217.")
    simulated = serializers.BooleanField(help_text="True: nothing that is rented here exists.")
    notice = serializers.CharField(allow_null=True)
    terms_version = serializers.CharField(help_text="What `accept_terms` of an order names.")
    pay_with = PayWithSerializer(many=True, help_text="Ways of paying that are offered at this moment.")


class AcceleratorSerializer(serializers.Serializer[Any]):
    """Specifications: null is unknown, 0 means that the hardware has none. GB is 10^9 bytes, GiB 2^30."""

    id = serializers.CharField(source="accelerator.slug")
    name = serializers.CharField(source="accelerator.name")
    vendor = serializers.CharField(source="accelerator.vendor")
    architecture = serializers.CharField(source="accelerator.architecture")
    memory_gb = serializers.IntegerField(source="accelerator.memory_gb", allow_null=True)
    usable_gib = serializers.FloatField(source="accelerator.usable_gib", allow_null=True)
    memory_type = serializers.CharField(source="accelerator.memory_type", allow_null=True)
    bandwidth_gb_s = serializers.IntegerField(source="accelerator.bandwidth_gb_s", allow_null=True)
    bf16_dense_tflops = serializers.IntegerField(source="accelerator.bf16_dense_tflops", allow_null=True)
    fp8_dense_tflops = serializers.IntegerField(source="accelerator.fp8_dense_tflops", allow_null=True)
    fp4_dense_tflops = serializers.IntegerField(source="accelerator.fp4_dense_tflops", allow_null=True)
    board_power_w = serializers.IntegerField(source="accelerator.board_power_w", allow_null=True)
    link = serializers.CharField(source="accelerator.link", allow_null=True)
    link_gb_s = serializers.FloatField(source="accelerator.link_gb_s", allow_null=True)
    stack = serializers.ChoiceField(source="accelerator.stack", choices=Stack.choices)
    stack_minimum = serializers.CharField(source="accelerator.stack_minimum", allow_null=True)
    driver_minimum = serializers.CharField(source="accelerator.driver_minimum", allow_null=True)
    target = serializers.CharField(source="accelerator.target")
    host_arch = serializers.ChoiceField(source="accelerator.host_arch", choices=HostArch.choices)
    grade = serializers.ChoiceField(
        source="accelerator.grade",
        choices=Grade.choices,
        help_text="V: written by the vendor, C: a copy of a vendor data sheet, S: a secondary source.",
    )
    source = serializers.ListField(  # type: ignore[assignment]
        source="accelerator.sources", child=serializers.CharField()
    )
    conflict = serializers.CharField(
        source="accelerator.conflict", help_text="Where sources disagree; empty where they do not."
    )
    on_sale = serializers.BooleanField()


class LotPriceSerializer(serializers.Serializer[Any]):
    days = serializers.IntegerField()
    amount = serializers.CharField(
        help_text="Decimal text: one lot for the whole term, before options and tax."
    )
    currency = serializers.CharField()


class LotSerializer(serializers.Serializer[Any]):
    """What is on sale: N cards of one node. Host figures are of one lot; null is unknown."""

    id = serializers.CharField(source="code")
    accelerator = serializers.CharField(source="accelerator_slug")
    cards = serializers.IntegerField()
    memory_gb = serializers.IntegerField(allow_null=True, help_text="Of one card.")
    vcpu = serializers.IntegerField(allow_null=True)
    ram_gb = serializers.IntegerField(allow_null=True)
    nvme_gb = serializers.IntegerField(allow_null=True)
    uplink_gbit_s = serializers.IntegerField(allow_null=True)
    specs_are_demo = serializers.BooleanField(help_text="True: the host figures describe no real machine.")
    price_version = serializers.IntegerField()
    prices = serializers.SerializerMethodField()
    images = serializers.ListField(
        child=serializers.CharField(), help_text="Codes of environments that run here."
    )
    options = serializers.ListField(child=serializers.CharField(), help_text="Codes of options sold with it.")

    @extend_schema_field(LotPriceSerializer(many=True))
    def get_prices(self, lot: LotListing) -> list[dict[str, Any]]:
        return [
            {"days": days, "amount": f"{amount:f}", "currency": lot.currency}
            for days, amount in sorted(lot.prices.items())
        ]
