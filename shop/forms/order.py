"""Small forms of the order page."""

from django import forms
from django.utils.translation import gettext_lazy as _


class ClaimForm(forms.Form):
    """ "I have paid", with a transaction hash if the buyer has one."""

    transaction_hash = forms.CharField(
        label=_("Transaction hash"),
        required=False,
        max_length=200,
        help_text=_("Starts with 0x. Helps us to tell you more if something differs."),
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off", "spellcheck": "false"}),
    )


class ProblemForm(forms.Form):
    """What is wrong, in the buyer's words. Length and characters are judged by core.text."""

    text = forms.CharField(
        label=_("What is wrong?"),
        help_text=_("What you did, what you expected, what you saw. Never a private key or a seed phrase."),
        widget=forms.Textarea(attrs={"rows": 8}),
    )
