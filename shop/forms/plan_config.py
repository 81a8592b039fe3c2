"""The config.json of a model, pasted or uploaded, and its short form that fits into an address."""

import json
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from planner import PlanError
from planner.config_json import architecture_from_text
from shop.forms.plan_errors import error_text

# A body of 256 KB is refused before a form sees it; what is kept in a hidden field stays far below.
MAX_KEPT = 64 * 1024
_MAX_STRING = 200


class PlanConfigForm(forms.Form):
    """A form of its own: a file cannot travel in an address."""

    config_text = forms.CharField(
        label=_("Text of the config.json"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "autocomplete": "off"}),
    )
    config_file = forms.FileField(
        label=_("Or the file"),
        required=False,
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        """`config` becomes the short form of what was given."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        text, name = cleaned.get("config_text") or "", "config_text"
        if cleaned.get("config_file"):
            if text:
                self.add_error("config_file", _("Give the text or the file, not both."))
                return cleaned
            text, name = self._uploaded(cleaned["config_file"]), "config_file"
        if not text and not self.errors:
            self.add_error(name, _("Paste the text of a config.json or choose the file."))
        if not self.errors:
            self._read(text, name, cleaned)
        return cleaned

    def _uploaded(self, file: "UploadedFile[bytes]") -> str:
        try:
            return str(file.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            self.add_error("config_file", _("This file cannot be read as text."))
            return ""

    def _read(self, text: str, name: str, cleaned: dict[str, Any]) -> None:
        try:
            cleaned["config"] = short_config(text)
        except PlanError as error:
            self.add_error(name, error_text(error))
            return
        if len(cleaned["config"]) > MAX_KEPT:
            self.add_error(name, _("This config.json holds more text than a model needs."))


def short_config(text: str) -> str:
    """The same architecture in fewer characters. Raises PlanError for what is no config of a model.

    Lists, nested objects and long texts (rope tables, quantisation, vocabularies) say nothing about sizes; where
    leaving them out changed the result after all, the text stays as it was given.
    """
    architecture = architecture_from_text(text)
    try:
        short = json.dumps(_scalars(json.loads(text)), separators=(",", ":"))
        if architecture_from_text(short) == architecture:
            return short
    except ValueError:  # a PlanError too; the long form was valid
        pass
    return text


def _scalars(data: Any) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in data.items():
        is_short = isinstance(value, str) and len(value) <= _MAX_STRING
        if value is not None and (is_short or isinstance(value, bool | int | float)):
            kept[key] = value
        elif key == "text_config" and isinstance(value, dict):
            kept[key] = _scalars(value)
    return kept
