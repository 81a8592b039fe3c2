"""Whom it is about, and why."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core.admin_actions import MAX_REASON
from core.errors import Refusal
from core.text import clean_block


class PersonForm(forms.Form):
    """An address. What is one is judged by orders.contact."""

    address = forms.CharField(
        label=_("E-mail address of the buyer"),
        max_length=320,
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, data: Any = None, *, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial, label_suffix="")


class ErasureForm(PersonForm):
    """The address again, unseen, with the reason."""

    address = forms.CharField(max_length=320, widget=forms.HiddenInput)
    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON,
        help_text=_("Kept in the audit, so without the name: such as “asked by mail on 1 Dec”."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean_reason(self) -> str:
        try:
            return clean_block(
                self.cleaned_data["reason"], field="reason", max_length=MAX_REASON, required=True
            )
        except Refusal as refusal:
            raise forms.ValidationError(refusal.text, code=refusal.code) from refusal
