"""The one field of "find my orders"."""

from django import forms
from django.utils.translation import gettext_lazy as _


class FindForm(forms.Form):
    """An address. What can be mailed is judged by orders.contact."""

    email = forms.CharField(
        label=_("E-mail address of your orders"),
        max_length=320,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
