"""Forms of a running term: go on longer, end early."""

from django import forms
from django.utils.translation import gettext_lazy as _

from billing.services.checkout import BankCardChoice, CryptoChoice, PaymentChoice
from shop.forms.checkout import CARD_VALUE


class ExtendForm(forms.Form):
    """For how long and how it is paid. What is offered is judged by the service."""

    days = forms.IntegerField(
        label=_("How long"), error_messages={"required": _("Choose how many days your term goes on.")}
    )
    pay_with = forms.CharField(
        label=_("Pay with"), max_length=100, error_messages={"required": _("Choose how you pay.")}
    )

    def payment_choice(self) -> PaymentChoice:
        value = str(self.cleaned_data["pay_with"])
        if value == CARD_VALUE:
            return BankCardChoice()
        network, _separator, asset = value.partition(":")
        return CryptoChoice(network=network, asset=asset)


class EndEarlyForm(forms.Form):
    """The last question before everything on the machine is gone."""

    confirm = forms.BooleanField(
        label=_("I have taken away what I need. Close access and wipe the disks now."),
        error_messages={"required": _("Please confirm that everything on the machine may be wiped.")},
    )
