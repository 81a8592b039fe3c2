"""A new API key, and one in place of another."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core import clock
from partners.forms.base import PartnerForm
from partners.scopes import Scope
from partners.services.rotate_key import DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS

_SPANS = [
    ("", _("It does not end")),
    ("30", _("In 30 days")),
    ("90", _("In 90 days")),
    ("365", _("In a year")),
]


class KeyForm(PartnerForm):
    note = forms.CharField(
        label=_("Note"),
        max_length=120,
        required=False,
        help_text=_("Which program uses it."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        label=_("What it may do"),
        choices=Scope.choices,
        initial=Scope.values,
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.ChoiceField(label=_("When it ends"), choices=_SPANS, required=False)

    def values(self) -> dict[str, Any]:
        """For the service."""
        days = self.cleaned_data["days"]
        return {
            "note": self.cleaned_data["note"],
            "scopes": self.cleaned_data["scopes"],
            "expires_at": clock.now() + timedelta(days=int(days)) if days else None,
        }


class RotateForm(PartnerForm):
    overlap_hours = forms.IntegerField(
        label=_("Hours in which the old key still works"),
        initial=DEFAULT_OVERLAP_HOURS,
        min_value=1,
        max_value=MAX_OVERLAP_HOURS,
    )
