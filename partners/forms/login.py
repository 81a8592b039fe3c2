"""Who wants in."""

from django import forms
from django.utils.translation import gettext_lazy as _

from core.errors import Refusal
from orders.contact import MAX_EMAIL, clean_email
from partners.forms.base import PartnerForm


class LoginForm(PartnerForm):
    mail = forms.CharField(
        label=_("Mail address"),
        max_length=MAX_EMAIL,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def clean_mail(self) -> str:
        try:
            return clean_email(self.cleaned_data["mail"], field="mail")
        except Refusal as refusal:
            raise forms.ValidationError(refusal.text, code=refusal.code) from refusal
