"""The shape of a plan, for the document. A test holds it to what the planner gives."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from partners.api.plans_request import PlanRunFieldsSerializer
from planner import texts
from planner.moments import COMPONENTS
from planner.verdicts import ORDER

_GIB = "GiB (2^30 bytes)"


class PlanRangeSerializer(serializers.Serializer[Any]):
    low = serializers.FloatField()
    typical = serializers.FloatField()
    high = serializers.FloatField()


class PlanNoteSerializer(serializers.Serializer[Any]):
    """A statement: decide by `code`, show `text`."""

    code = serializers.CharField()
    params = serializers.DictField(help_text="Values that the sentence names.")
    text = serializers.CharField(help_text="The sentence, in the language of Accept-Language.")


class PlannedModelSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    params = serializers.IntegerField()
    active_params = serializers.IntegerField(help_text="Those that work on one token; fewer with experts.")
    layers = serializers.IntegerField()
    hidden = serializers.IntegerField()
    vocab = serializers.IntegerField()
    certain = serializers.BooleanField(help_text="False: only the size was given, the shape is a guess.")


class PlanRunSerializer(PlanRunFieldsSerializer):
    """The run as it was planned, with every default filled in."""

    lora_targets = serializers.CharField()  # type: ignore[assignment]


@extend_schema_field(
    {
        "type": "object",
        "properties": {
            "moment": {"type": "string", "enum": sorted(texts.MOMENTS)},
            **{f"{name}_gib": {"type": "number"} for name in (*COMPONENTS, "total")},
        },
        "required": ["moment", *(f"{name}_gib" for name in (*COMPONENTS, "total"))],
        "additionalProperties": False,
    }
)
class MomentField(serializers.DictField):
    """Components on one card at one moment."""


class PlanMemorySerializer(serializers.Serializer[Any]):
    """Memory of one card."""

    moments = serializers.ListField(
        child=MomentField(),
        help_text=f"{_GIB} by component at the start and the end of the backward pass and at the optimizer step; "
        "`kept` and `working` are activations.",
    )
    binding = serializers.ChoiceField(
        choices=sorted(texts.MOMENTS), help_text="The moment that needs most. Only what lowers it helps."
    )
    tensors_gib = PlanRangeSerializer(help_text="What the framework allocates.")
    required_gib = PlanRangeSerializer(help_text="With context and communication buffers.")
    judged_gib = serializers.FloatField(help_text="The figure that verdicts rest on.")
    shown_gib = PlanRangeSerializer(help_text="What nvidia-smi will show: caches are counted there.")


class PlanLeverSerializer(serializers.Serializer[Any]):
    """A cheaper way, judged alone."""

    code = serializers.ChoiceField(choices=sorted(texts.LEVERS))
    required_gib = serializers.FloatField()
    saved_gib = serializers.FloatField()
    helps = serializers.BooleanField(help_text="False: it does not lower the moment that binds.")
    speed = serializers.ChoiceField(choices=sorted(texts.SPEEDS), help_text="What it costs.")
    slower = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="Share of the speed lost, low and high."
    )


class PlanRulesSerializer(serializers.Serializer[Any]):
    """What circulating rules say, in GB (10^9 bytes), and why we differ."""

    rule_gb = serializers.FloatField(help_text="16 GB per billion parameters.")
    table_row = serializers.ChoiceField(choices=sorted(texts.TABLE_ROWS), allow_null=True)
    table_gb = serializers.FloatField(allow_null=True)
    ours_gb = serializers.FloatField()
    reasons = PlanNoteSerializer(many=True)


class PlanTermSerializer(serializers.Serializer[Any]):
    """A lot for a term. Null is not estimated; 0 runs are 0 and have no cost per result."""

    days = serializers.IntegerField()
    price = serializers.CharField(
        help_text="Decimal text: one lot for the whole term, before options and tax."
    )
    currency = serializers.CharField()
    usable_hours = serializers.FloatField(help_text="Without loading, pilot, validation and export.")
    finish = serializers.ChoiceField(
        choices=sorted(texts.FINISH), help_text="yes: even a slow run ends in time; likely: a typical one."
    )
    runs = serializers.IntegerField(allow_null=True, help_text="Whole runs, typical speed.")
    runs_if_slow = serializers.IntegerField(allow_null=True)
    per_success = serializers.CharField(
        allow_null=True, help_text="Decimal text: whole price / (whole runs x chance of success)."
    )
    per_success_if_slow = serializers.CharField(allow_null=True)
    idle_hours = serializers.FloatField(allow_null=True, help_text="Usable hours that no whole run fills.")
    largest_tokens = serializers.IntegerField(
        allow_null=True, help_text="The largest run that ends in time even if slow."
    )


class PlanLotSerializer(serializers.Serializer[Any]):
    """The verdict on one lot."""

    lot = serializers.CharField()
    accelerator = serializers.CharField()
    cards = serializers.IntegerField()
    verdict = serializers.ChoiceField(
        choices=ORDER,
        help_text="comfortable; pilot: workable, a pilot must confirm; tight: not sold as a fit; no.",
    )
    shape = serializers.ChoiceField(
        choices=sorted(texts.SHAPES), allow_null=True, help_text="How the cards would be used."
    )
    usable_gib = serializers.FloatField(allow_null=True, help_text="Of one card; memories are not pooled.")
    usable_published = serializers.BooleanField(help_text="False: derived from the vendor's GB.")
    required_gib = serializers.FloatField(allow_null=True, help_text="On one card, in this shape.")
    free_share = serializers.FloatField(
        allow_null=True, help_text="Of the usable memory; negative: too small."
    )
    hours = PlanRangeSerializer(allow_null=True, help_text="One run: fast, typical, slow.")
    hours_source = serializers.CharField(allow_null=True, help_text="Where the rate comes from.")
    terms = PlanTermSerializer(many=True)
    cautions = PlanNoteSerializer(many=True)
    measured = serializers.BooleanField(help_text="True: the pilot ran on this lot.")
    cache_tokens = serializers.IntegerField(
        allow_null=True,
        help_text="When serving: tokens of all conversations together that leave the lot comfortable.",
    )


class PlanSerializer(serializers.Serializer[Any]):
    """A plan is an estimate from published measurements; its assumptions are part of it."""

    model = PlannedModelSerializer()
    run = PlanRunSerializer()
    memory = PlanMemorySerializer()
    levers = PlanLeverSerializer(many=True)
    rules_of_thumb = PlanRulesSerializer()
    lots = PlanLotSerializer(many=True, help_text="Best first.")
    recommended = serializers.CharField(
        allow_null=True, help_text="The lot to start with: one card where one carries the run."
    )
    notes = PlanNoteSerializer(many=True)
    assumptions = PlanNoteSerializer(many=True)
