"""What the pages of the second factor ask for."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core.errors import Refusal


class CodeForm(forms.Form):
    """Six digits of an authenticator app, or a recovery code."""

    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "spellcheck": "false", "autocapitalize": "none"}
        ),
    )

    def __init__(self, *args: Any, is_alone: bool = False, **kwargs: Any) -> None:
        """`is_alone`: the page asks for nothing else, so the cursor waits there (a refusal takes it first)."""
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        if is_alone and not self.is_bound:
            self.fields["code"].widget.attrs["autofocus"] = True

    def refuse(self, refusal: Refusal) -> None:
        self.add_error("code", refusal.text)
