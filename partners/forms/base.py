"""What the forms share: labels without a colon, and a refusal of a service beside the field that it names."""

from typing import Any

from django import forms

from core.errors import Refusal


class PartnerForm(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)

    def refuse(self, refusal: Refusal) -> None:
        """What has no field of its own stands above the form."""
        self.add_error(refusal.field if refusal.field in self.fields else None, refusal.text)
