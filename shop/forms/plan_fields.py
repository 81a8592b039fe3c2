"""Fields of the planner: decimals as people write them, and selects of the planner's own words."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise, _StrPromise

# 0,5 is a half everywhere on the continent; 1,000 may be a thousand or a one, so it is asked back.
_DECIMAL_COMMA = re.compile(r"\s*\d*,(?!\d{3}\s*$)\d+\s*", re.ASCII)

_NUMBER_TEXT = {"inputmode": "numeric", "autocomplete": "off"}


class Amount(forms.DecimalField):
    """A decimal with a point or a comma."""

    def __init__(self, *, low: str, high: str, **kwargs: Any) -> None:
        super().__init__(
            min_value=Decimal(low),
            max_value=Decimal(high),
            max_digits=30,
            required=False,
            widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
            **kwargs,
        )

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value):
            value = value.replace(",", ".")
        return super().to_python(value)


def number(label: "_StrOrPromise", hint: "_StrOrPromise" = "") -> forms.CharField:
    """A whole number that the planner itself checks, so that its bounds stand in one place."""
    return forms.CharField(
        label=label,
        help_text=hint,
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs=_NUMBER_TEXT),
    )


def select(
    label: "_StrOrPromise", words: "Mapping[str, _StrPromise]", hint: "_StrOrPromise" = ""
) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, help_text=hint, required=False, choices=list(words.items()))


def radios(label: "_StrOrPromise", words: "Mapping[str, _StrPromise]") -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label, required=False, choices=list(words.items()), widget=forms.RadioSelect
    )


METHODS: "dict[str, _StrPromise]" = {
    "full": _("All parameters"),
    "lora": _("LoRA"),
    "qlora": _("QLoRA, quantised weights"),
    "lora_emb": _("LoRA with trained embeddings"),
    "infer": _("No training: serving"),
}
WEIGHTS: "dict[str, _StrPromise]" = {
    "": _("The usual for the method"),
    "bf16": _("bf16"),
    "fp16": _("fp16"),
    "fp32": _("fp32"),
    "fp8": _("fp8"),
    "int8": _("int8"),
    "nf4": _("4 bit, NF4"),
    "nf4dq": _("4 bit, NF4 with double quantisation"),
    "gptq4": _("4 bit, GPTQ"),
}
PARAM_DTYPES: "dict[str, _StrPromise]" = {
    "bf16": _("bf16 throughout"),
    "fp32": _("fp32 weights with autocast"),
}
OPTIMIZERS: "dict[str, _StrPromise]" = {
    "adamw": _("AdamW, standard step"),
    "adamw_fused": _("AdamW, fused step"),
    "adamw_ds": _("AdamW, mixed with fp32 master"),
    "adamw8bit": _("8-bit Adam"),
    "adamw_paged": _("AdamW, paged"),
    "adamw8bit_paged": _("8-bit Adam, paged"),
    "adamw_inbwd": _("AdamW inside the backward pass"),
    "adamw_paged_inbwd": _("AdamW, paged, inside the backward pass"),
    "adamw8bit_inbwd": _("8-bit Adam inside the backward pass"),
    "adamw8bit_paged_inbwd": _("8-bit Adam, paged, inside the backward pass"),
    "adafactor": _("Adafactor"),
    "sgd": _("SGD"),
    "sgd_momentum": _("SGD with momentum"),
}
CKPT: "dict[str, _StrPromise]" = {
    "full": pgettext_lazy("activation checkpointing", "Full"),
    "selective": pgettext_lazy("activation checkpointing", "Selective"),
    "none": pgettext_lazy("activation checkpointing", "None"),
}
FLASH: "dict[str, _StrPromise]" = {"1": _("Flash, fused kernel"), "0": _("Eager, keeps scores")}
PACKING: "dict[str, _StrPromise]" = {"1": _("Packed or of equal length"), "0": _("Different, padded")}
DROPOUT: "dict[str, _StrPromise]" = {"1": _("With dropout"), "0": _("Without dropout")}
LOSS_KERNELS: "dict[str, _StrPromise]" = {
    "hf": _("As the framework ships it"),
    "fast_ce": _("Fast cross-entropy"),
    "fused_ce": _("Fused linear and cross-entropy"),
    "chunked": _("In chunks"),
    "compiled": _("Compiled"),
    "compiled_chunked": _("Compiled, in chunks"),
}
SHARDING: "dict[str, _StrPromise]" = {
    "": _("The better one for each lot"),
    "none": _("One card for one run"),
    "ddp": _("DDP: a whole copy on each card"),
    "fsdp": _("FSDP: everything divided"),
    "zero1": _("ZeRO-1: optimizer state divided"),
    "zero2": _("ZeRO-2: gradients and optimizer state divided"),
    "zero3": _("ZeRO-3: everything divided"),
    "tp": _("Tensor parallelism: every matrix divided"),
}
FRAMEWORKS: "dict[str, _StrPromise]" = {
    "hf_trainer": _("Hugging Face Trainer or alike"),
    "deepspeed": _("DeepSpeed"),
    "other": _("Another one"),
}
ENGINES: "dict[str, _StrPromise]" = {
    "generate": _("Hugging Face generate"),
    "vllm": _("vLLM or another paged cache"),
}
KV_DTYPES: "dict[str, _StrPromise]" = {"bf16": _("bf16"), "fp8": _("fp8")}
