"""The form that asks where a refund goes: entered, shown back, confirmed."""

from django import forms
from django.utils.translation import gettext_lazy as _


class DestinationForm(forms.Form):
    """An address of the buyer's own. Its form is judged by billing."""

    destination = forms.CharField(
        label=_("Your address on this network"),
        max_length=100,
        strip=True,
        help_text=_(
            "0x and 40 characters. An address that you hold yourself: a deposit address at an exchange can change "
            "or belong to somebody else by the time the money arrives."
        ),
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off", "spellcheck": "false"}),
    )
