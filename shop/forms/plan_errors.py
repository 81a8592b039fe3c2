"""What a person reads where the planner refuses an input, by its stable code."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext as now
from django.utils.translation import gettext_lazy as _

from planner import PlanError

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

CONFIG_FIELD = "model.config"

ERRORS: "dict[str, _StrPromise]" = {
    "config_missing": _("The config lacks this number. Only transformer language models can be planned."),
    "config_not_json": _("This is not valid JSON."),
    "config_not_finite": _("NaN and Infinity are not numbers that a config can hold."),
    "config_not_text": _("Paste the text of a config.json."),
    "config_number_too_long": _("A number in this config is longer than any real one."),
    "config_too_deep": _("This config is nested deeper than any real one."),
    "config_too_large": _("A config.json has at most one million characters."),
    "experts_mismatch": _("A token must use at least one expert and no more than there are."),
    "heads_not_divisible": _(
        "Tensor parallelism cannot divide the attention heads evenly (heads: %(heads)s, cards: %(cards)s)."
    ),
    "not_a_code": _("Choose a lot from the list."),
    "not_a_list": _("Enter a list of lot codes."),
    "not_a_number": _("Enter a number."),
    "not_boolean": _("Enter yes or no."),
    "not_object": _("Enter an object with named fields."),
    "not_whole": _("Enter a whole number."),
    "one_model": _("Give exactly one of: a known name, a config.json, a number of parameters."),
    "qlora_needs_quantised": _("QLoRA trains beside quantised weights. Choose one of: %(allowed)s."),
    "too_large": _("These sizes make a model beyond 10^15 parameters."),
    "unknown_choice": _("Choose one of: %(allowed)s."),
    "unknown_field": _("There is no such field."),
    "unknown_lot": _("There is no lot %(lot)s on sale."),
    "unknown_preset": _("This model is not in our list. Paste its config.json or give its size."),
    "unknown_targets": _("Name the targets with these words, separated by commas: %(allowed)s."),
    "weights_not_trainable": _("Quantised weights are trained with QLoRA only."),
}
_RANGE = _("Enter a number from %(low)s to %(high)s.")
_OUT_OF_ALL = _("This number is out of every range.")


def error_text(error: PlanError) -> str:
    """The sentence in the active language; inside a config.json the key at fault stands in front."""
    text = _sentence(error)
    key = error.field.removeprefix(f"{CONFIG_FIELD}.")
    if key == error.field:
        return text
    return now("%(key)s in the config.json: %(sentence)s") % {"key": key, "sentence": text}


def _sentence(error: PlanError) -> str:
    if error.code == "out_of_range":
        return str(_RANGE) % error.params if error.params else str(_OUT_OF_ALL)
    # A code that is newer than this list still says which field it is: the planner's English sentence stands in.
    sentence = ERRORS.get(error.code)
    if sentence is None:
        return error.text
    return str(sentence) % error.params if error.params else str(sentence)
