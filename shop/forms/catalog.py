"""The filters of the catalogue, a plain GET form."""

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.models.accelerator import Stack

# Steps at which the cards of the market differ; any whole number may be asked for by address.
MEMORY_STEPS = (24, 48, 80, 141, 180)


class CatalogFilterForm(forms.Form):
    """Nothing is required; an empty field does not filter."""

    min_memory_gb = forms.IntegerField(
        label=_("Memory per card, at least"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        widget=forms.Select(choices=[("", _("Any")), *((step, f"{step}\u00a0GB") for step in MEMORY_STEPS)]),
    )
    stack = forms.ChoiceField(
        label=_("Software stack"), required=False, choices=[("", _("CUDA or ROCm")), *Stack.choices]
    )
    vendor = forms.ChoiceField(
        label=_("Vendor"),
        required=False,
        choices=[("", _("All")), ("NVIDIA", "NVIDIA"), ("AMD", "AMD")],
    )
