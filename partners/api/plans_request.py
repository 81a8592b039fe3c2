"""The body of `POST plans` as the document describes it, and the check that it has the types described.

Ranges, words and combinations are the planner's own to judge; it also reads forms and files, where a number is
text and a yes is "on", so that the types of JSON have to be held here.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, extend_schema_field
from rest_framework import serializers

from core.errors import Invalid
from planner import run
from planner.adapters import MAX_TARGETS_TEXT
from planner.presets import PRESETS
from planner.request import DEFAULT_CHANCE, MAX_LOTS, MAX_TOKENS
from planner.run import Run
from planner.sizes import MAX_NOMINAL, MIN_PARAMETERS

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

_DEFAULT = Run()
_COUNT_TEXT = r"^\d+(\.\d+)?([eE]\d{1,2}|[KMBT])?$"


def _count(low: int, high: int) -> dict[str, Any]:
    return {
        "oneOf": [
            {"type": "integer", "minimum": low, "maximum": high},
            {"type": "string", "pattern": _COUNT_TEXT, "maxLength": 40},
        ]
    }


@extend_schema_field(_count(MIN_PARAMETERS, MAX_NOMINAL))
class ParametersField(serializers.Field[Any, Any, Any, Any]):
    """A number of parameters, as a number or as text such as 8e9 or 8B."""


@extend_schema_field(_count(1, MAX_TOKENS))
class TokensField(serializers.Field[Any, Any, Any, Any]):
    """A number of tokens, as a number or as text."""


@extend_schema_field({"oneOf": [{"type": "object", "additionalProperties": True}, {"type": "string"}]})
class ConfigField(serializers.Field[Any, Any, Any, Any]):
    """A config.json as an object or as its text."""


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "maxLength": MAX_TARGETS_TEXT},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
        ]
    }
)
class TargetsField(serializers.Field[Any, Any, Any, Any]):
    """Matrices with an adapter: words joined by commas, or a list of words."""


class PlanModelSerializer(serializers.Serializer[Any]):
    """Exactly one of the three."""

    preset = serializers.ChoiceField(choices=tuple(PRESETS), required=False, help_text="A known model.")
    config = ConfigField(
        required=False,
        help_text="The config.json of a transformer language model, as an object or as text. Not in the list of "
        "known models: paste it. It counts towards the 64 KB of the body.",
    )
    params = ParametersField(
        required=False,
        help_text="A size alone, such as 8e9 or 8B. The shape is guessed, so that the ranges are wide.",
    )


class PlanRunFieldsSerializer(serializers.Serializer[Any]):
    """How the model is trained or served."""

    method = serializers.ChoiceField(choices=run.METHODS, default=_DEFAULT.method)
    weights = serializers.ChoiceField(
        choices=run.WEIGHTS,
        default=_DEFAULT.weights,
        help_text="Format of frozen or served weights; nf4dq where the method is qlora and nothing is given.",
    )
    param_dtype = serializers.ChoiceField(
        choices=run.PARAM_DTYPES, default=_DEFAULT.param_dtype, help_text="Format of trained weights."
    )
    optimizer = serializers.ChoiceField(choices=run.OPTIMIZERS, default=_DEFAULT.optimizer)
    optimizer_bytes = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=64,
        help_text="State per trained parameter, where your optimizer is not in the list.",
    )
    lora_rank = serializers.IntegerField(min_value=1, max_value=65_536, default=_DEFAULT.lora_rank)
    lora_targets = TargetsField(default=_DEFAULT.lora_targets)
    seq_len = serializers.IntegerField(
        min_value=1,
        max_value=20_000_000,
        default=_DEFAULT.seq_len,
        help_text="Tokens of the longest sequence.",
    )
    micro_batch = serializers.IntegerField(
        min_value=1,
        max_value=100_000,
        default=_DEFAULT.micro_batch,
        help_text="Sequences per card and step; when serving, conversations at once.",
    )
    accumulation = serializers.IntegerField(min_value=1, max_value=1_000_000, default=_DEFAULT.accumulation)
    ckpt = serializers.ChoiceField(
        choices=run.CKPT, default=_DEFAULT.ckpt, help_text="Activation checkpointing."
    )
    flash = serializers.BooleanField(
        default=_DEFAULT.flash, help_text="False: attention that keeps its score matrices."
    )
    loss_kernel = serializers.ChoiceField(choices=run.LOSS_KERNELS, default=_DEFAULT.loss_kernel)
    compiled = serializers.BooleanField(default=_DEFAULT.compiled)
    packing = serializers.BooleanField(
        default=_DEFAULT.packing, help_text="False: sequences of different length, padded."
    )
    upcast = serializers.BooleanField(
        default=_DEFAULT.upcast, help_text="True: prepare_model_for_kbit_training was called."
    )
    lora_dropout = serializers.BooleanField(default=_DEFAULT.lora_dropout)
    n_cards = serializers.IntegerField(
        min_value=1,
        max_value=1_024,
        default=_DEFAULT.n_cards,
        help_text="With sharding it fixes the shape; where neither is given, each lot gets the shape that suits it.",
    )
    sharding = serializers.ChoiceField(
        choices=run.SHARDING,
        default=_DEFAULT.sharding,
        help_text="tp: tensor parallelism over 2 to 8 cards (n_cards), a number that divides the attention heads.",
    )
    framework = serializers.ChoiceField(choices=run.FRAMEWORKS, default=_DEFAULT.framework)
    engine = serializers.ChoiceField(
        choices=run.ENGINES, default=_DEFAULT.engine, help_text="What serves the model, for infer."
    )
    kv_dtype = serializers.ChoiceField(choices=run.KV_DTYPES, default=_DEFAULT.kv_dtype)


class PlanPilotSerializer(serializers.Serializer[Any]):
    """Numbers from a pilot run. They replace estimates and rank every lot anew."""

    lot = serializers.CharField(max_length=64, help_text="Where it ran; needed as soon as a number is given.")
    step_seconds = serializers.FloatField(
        required=False, min_value=0.0001, max_value=1e6, help_text="Per optimizer step, after warm-up."
    )
    peak_gib = serializers.FloatField(
        required=False, min_value=0.01, max_value=10_000, help_text="Peak allocated memory of one card."
    )
    restore_minutes = serializers.FloatField(
        required=False, min_value=0, max_value=10_000, help_text="To restore a checkpoint in a new process."
    )


class PlanRequestSerializer(PlanRunFieldsSerializer):
    """Only `model` is needed. A field that is null counts as left out; an unknown field is refused."""

    model = PlanModelSerializer()
    tokens = TokensField(
        required=False,
        help_text="Of one epoch, padding included. Left out: memory and verdicts only, no time and no cost.",
    )
    epochs = serializers.FloatField(default=1.0, min_value=0.001, max_value=10_000)
    chance = serializers.FloatField(
        default=float(DEFAULT_CHANCE),
        min_value=0.001,
        max_value=1,
        help_text="Share of runs that end with a usable result.",
    )
    rocm_ready = serializers.BooleanField(
        default=False, help_text="True: your code is known to run on ROCm; such lots are not ranked behind."
    )
    pilot = PlanPilotSerializer(required=False)
    lots = serializers.ListField(
        child=serializers.CharField(max_length=64),
        required=False,
        max_length=MAX_LOTS,
        help_text="Codes of the lots to judge; left out or empty: all that are on sale.",
    )


class _Closed(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """A misspelt field is refused, and the document says so."""

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(  # type: ignore[no-untyped-call]
            self.target, direction, bypass_extensions=True
        )
        schema["additionalProperties"] = False
        return schema


class _ClosedRequest(_Closed):  # type: ignore[no-untyped-call]
    target_class = PlanRequestSerializer


class _ClosedPilot(_Closed):  # type: ignore[no-untyped-call]
    target_class = PlanPilotSerializer


class _ClosedModel(_Closed):  # type: ignore[no-untyped-call]
    target_class = PlanModelSerializer

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        return super().map_serializer(auto_schema, direction) | {"minProperties": 1, "maxProperties": 1}


def plan_fields(data: Any) -> dict[str, Any]:
    """The body, an object as the parser sees to, for the planner; a list of adapter targets becomes its text.

    Raises Invalid naming the field for a value of another type than the document gives.
    """
    given = _typed(PlanRequestSerializer(), data, "")
    targets = given.get("lora_targets")
    if isinstance(targets, list):
        given["lora_targets"] = ",".join(targets)
    return given


def _typed(serializer: serializers.Serializer[Any], data: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    found = dict(data)
    for name, field in serializer.fields.items():
        value, path = data.get(name), f"{prefix}{name}"
        if value is None:
            continue
        if isinstance(field, serializers.Serializer):
            # What is no object here is named by the planner, like a field that nobody knows.
            found[name] = _typed(field, value, f"{path}.") if isinstance(value, dict) else value
        else:
            _check(field, value, path)
    return found


def _check(field: serializers.Field[Any, Any, Any, Any], value: Any, path: str) -> None:
    if isinstance(field, ConfigField):
        return  # object or text: the planner names what is neither
    if isinstance(field, serializers.BooleanField):
        _require(isinstance(value, bool), "not_boolean", _("This must be true or false."), path)
    elif isinstance(field, serializers.IntegerField | serializers.FloatField):
        _require(_is_number(value), "not_a_number", _("This must be a number."), path)
    elif isinstance(field, ParametersField | TokensField):
        is_count = _is_number(value) or isinstance(value, str)
        _require(is_count, "not_a_number", _("This must be a number."), path)
    elif isinstance(field, serializers.ListField):
        _require(_is_texts(value), "not_a_list", _("This must be a list of texts."), path)
    elif not (isinstance(field, TargetsField) and _is_texts(value)):
        _require(isinstance(value, str), "not_a_text", _("This must be a text."), path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _require(holds: bool, code: str, message: "_StrPromise", path: str) -> None:
    if not holds:
        raise Invalid(code=code, message=message, field=path)
