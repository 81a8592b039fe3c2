"""The planner's form: its state is the address of a plan. The planner judges; the form only reads."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from planner import PlanError, PlanRequest, request_from_mapping
from planner.lots import LotSpec
from planner.presets import PRESETS
from planner.run import RUN_FIELDS, Run
from shop.forms import plan_fields as fields
from shop.forms.plan_config import MAX_KEPT
from shop.forms.plan_errors import CONFIG_FIELD, error_text

BY_SIZE, BY_CONFIG = "size", "config"
BILLION: Final = 10**9

DEFAULTS: Final[dict[str, str]] = {
    "model": "llama-3-8b",
    "method": "full",
    "param_dtype": "bf16",
    "optimizer": "adamw",
    "lora_rank": "16",
    "lora_targets": "attn",
    "seq_len": "2048",
    "micro_batch": "1",
    "accumulation": "1",
    "ckpt": "full",
    "flash": "1",
    "packing": "1",
    "lora_dropout": "1",
    "loss_kernel": "hf",
    "framework": "hf_trainer",
    "engine": "generate",
    "kv_dtype": "bf16",
    "billion_tokens": "0.5",
    "epochs": "1",
    "chance_percent": "80",
}
"""What a field that is missing in the address means; every other field is then empty."""

# Servers refuse a request line of 4 KB; this leaves room for the path and what a proxy adds.
MAX_ADDRESS: Final = 3000

_TO_PLANNER: Final = (*(name for name in RUN_FIELDS if name != "optimizer_bytes"), "epochs")
_FIELDS: Final = {
    "model.preset": "model",
    "model.params": "billion_params",
    "tokens": "billion_tokens",
    "chance": "chance_percent",
}

_FAMILIES: Final = {"llama": "Llama", "smollm2": "SmolLM2", "tinyllama": "TinyLlama", "deepseek": "DeepSeek"}


class PlanForm(forms.Form):
    """Always bound: an empty address is the worked example. `plan_request` stands where the form is valid."""

    model = forms.ChoiceField(label=_("Model"), required=False)
    billion_params = fields.Amount(low="0.001", high="900000", label=_("Parameters, in billions"))
    config = forms.CharField(label="config.json", required=False, widget=forms.HiddenInput)
    method = fields.radios(_("Method"), fields.METHODS)
    param_dtype = fields.select(_("Precision of trained weights"), fields.PARAM_DTYPES)
    optimizer = fields.select(_("Optimizer"), fields.OPTIMIZERS)
    weights = fields.select(_("Format of frozen weights"), fields.WEIGHTS)
    lora_rank = fields.number(_("LoRA rank"))
    lora_targets = forms.CharField(
        label=_("LoRA targets"),
        help_text=_("attn, mlp, all, or matrices such as q,v."),
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    seq_len = fields.number(_("Longest sequence"))
    micro_batch = fields.number(_("Micro-batch per card"), _("When serving: conversations at once."))
    ckpt = fields.select(_("Activation checkpointing"), fields.CKPT)
    billion_tokens = fields.Amount(
        low="0.000001",
        high="1000000",
        label=_("Tokens of one epoch"),
        help_text=_("With padding. Empty: memory only."),
    )
    epochs = fields.Amount(low="0.001", high="10000", label=_("Epochs"))
    chance_percent = fields.Amount(
        low="0.1",
        high="100",
        label=_("How sure is a run to succeed?"),
        help_text=_("Use 80 until a pilot and a restored checkpoint say more."),
    )
    rocm_ready = forms.BooleanField(label=_("My code runs on ROCm"), required=False)
    accumulation = fields.number(_("Micro-batches per step"))
    flash = fields.select(_("Attention"), fields.FLASH)
    loss_kernel = fields.select(_("Loss kernel"), fields.LOSS_KERNELS)
    packing = fields.select(_("Lengths of the sequences"), fields.PACKING)
    lora_dropout = fields.select(_("Adapters"), fields.DROPOUT)
    framework = fields.select(_("Framework"), fields.FRAMEWORKS)
    compiled = forms.BooleanField(label=_("The model is compiled"), required=False)
    upcast = forms.BooleanField(label=_("Norms and embeddings are kept in fp32"), required=False)
    sharding = fields.select(_("Sharing over cards"), fields.SHARDING)
    n_cards = fields.number(_("Cards that work together"))
    engine = fields.select(_("Serving engine"), fields.ENGINES)
    kv_dtype = fields.select(_("Format of the cache"), fields.KV_DTYPES)
    pilot_lot = forms.ChoiceField(label=_("Lot of the pilot"), required=False)
    pilot_step_seconds = fields.Amount(low="0.0001", high="1000000", label=_("One step takes"))
    pilot_peak_gib = fields.Amount(low="0.01", high="10000", label=_("Peak of allocated memory"))
    pilot_restore_minutes = fields.Amount(low="0", high="10000", label=_("Restoring a checkpoint takes"))

    def __init__(self, given: Mapping[str, Any], *, lots: Iterable[LotSpec]) -> None:
        super().__init__(stated(given), label_suffix="")
        self.plan_request: PlanRequest | None = None
        names = {lot.code: lot for lot in lots}
        self.fields["pilot_lot"].choices = [  # type: ignore[attr-defined]
            ("", _("None yet")),
            *((code, f"{lot.accelerator_name} × {lot.cards}") for code, lot in names.items()),
        ]
        self.fields["model"].choices = _models(bool(self.data["config"]))  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        multiple = cleaned.get("sharding") not in ("", "none", None)
        if multiple and not cleaned.get("n_cards"):
            self.add_error("n_cards", _("Say how many cards work together."))
        if cleaned.get("model") == BY_SIZE and not cleaned.get("billion_params"):
            self.add_error("billion_params", _("Enter the number of parameters."))
        if not self.errors:
            try:
                self.plan_request = request_from_mapping(self._mapping(cleaned))
            except PlanError as error:
                self.add_error(self._field(error), error_text(error))
        return cleaned

    def clean_config(self) -> str:
        text = str(self.cleaned_data["config"])
        if len(text) > MAX_KEPT:
            raise forms.ValidationError(_("This config.json holds more text than a model needs."))
        return text

    def _mapping(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """What was filled in, in the planner's own words."""
        given = {name: cleaned[name] for name in _TO_PLANNER if cleaned.get(name) not in ("", None)}
        if cleaned["method"] == "full":
            given.pop("weights", None)  # nothing is frozen
        if cleaned["sharding"] == "none":
            given["n_cards"] = 1  # the planner then leaves each card a run of its own
        elif not cleaned["sharding"]:
            given.pop("n_cards", None)
        tokens, chance = cleaned["billion_tokens"], cleaned["chance_percent"]
        if tokens is not None:
            given["tokens"] = int(tokens * BILLION)
        if chance is not None:
            given["chance"] = chance / 100
        pilot = {name: cleaned[f"pilot_{name}"] for name in ("step_seconds", "peak_gib", "restore_minutes")}
        given["pilot"] = {"lot": cleaned["pilot_lot"], **pilot}
        return given | {"model": self._model(cleaned), "rocm_ready": cleaned["rocm_ready"]}

    def _model(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        if cleaned["model"] == BY_SIZE:
            return {"params": int(cleaned["billion_params"] * BILLION)}
        if cleaned["model"] == BY_CONFIG:
            return {"config": cleaned["config"]}
        return {"preset": cleaned["model"]}

    def _field(self, error: PlanError) -> str:
        if error.field == "model" and self.data["model"] == BY_SIZE:
            return "billion_params"
        if error.field.startswith(CONFIG_FIELD):
            return "config"
        name = _FIELDS.get(error.field, error.field.replace("pilot.", "pilot_"))
        return name if name in self.fields else "model"

    @property
    def values(self) -> dict[str, str]:
        """The state as it was given, missing fields filled in."""
        return {name: str(self.data[name]) for name in self.fields}

    @property
    def shareable(self) -> bool:
        """Whether the whole state fits into an address."""
        return len(address_query(self.values)) <= MAX_ADDRESS


def stated(given: Mapping[str, Any]) -> dict[str, str]:
    """Every field as text; an address names only what differs from the worked example."""
    return {name: str(given.get(name, DEFAULTS.get(name, ""))) for name in PlanForm.base_fields}


def address_query(values: Mapping[str, str]) -> str:
    """The shortest query that means this state."""
    state = dict(values)
    if state["model"] != BY_CONFIG:
        state["config"] = ""
    if state["model"] != BY_SIZE:
        state["billion_params"] = ""
    return urlencode({name: text for name, text in state.items() if text != DEFAULTS.get(name, "")})


def changed_values(values: Mapping[str, str], before: Run, after: Run) -> dict[str, str]:
    """The same state with the fields in which two runs differ, for a link that pulls a lever."""
    changed = dict(values)
    for name in _TO_PLANNER:
        if name in RUN_FIELDS and getattr(before, name) != getattr(after, name):
            changed[name] = _as_text(name, getattr(after, name))
    return changed


def _as_text(name: str, value: object) -> str:
    if isinstance(PlanForm.base_fields[name], forms.BooleanField):
        return "on" if value else ""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _models(with_config: bool) -> list[Any]:
    others = [(BY_SIZE, _("only its size is known"))]
    if with_config:
        others.append((BY_CONFIG, _("your config.json")))
    return [(_("Models we know"), [(n, model_name(n)) for n in PRESETS]), (_("Another model"), others)]


def model_name(code: str) -> str:
    """A preset's code as its makers write it: llama-3-8b is Llama 3 8B."""
    words = [
        _FAMILIES.get(word, word[:-1] + word[-1].upper() if word[0].isdigit() else word.capitalize())
        for word in code.split("-")
    ]
    return " ".join(words)
