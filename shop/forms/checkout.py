"""Contact, keys, payment and terms: the acceptance of a quote."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from billing.offers import CryptoOffer
from billing.services.checkout import BankCardChoice, CryptoChoice, PaymentChoice
from core.errors import Refusal
from shop.forms.keys import KeyFields
from shop.forms.refused import show_refusal

# The value of the bank card among the ways of paying.
CARD_VALUE = "card"

FIELDS = {
    "contact.name": "name",
    "contact.email": "email",
    "contact.company": "company",
    "ssh_keys": "ssh_keys",
    "pay_with": "pay_with",
    "accept_terms": "accept_terms",
}


class CheckoutForm(KeyFields):
    """Bounds and forms are those of the services; here only what a browser can help with."""

    name = forms.CharField(label=_("Name"), widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.CharField(
        label=_("E-mail"),
        help_text=_("For the link to your order and what happens with it. Nothing else."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    company = forms.CharField(
        label=_("Organisation"),
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
    )
    ssh_keys = forms.CharField(
        label=_("SSH public key"),
        required=False,
        help_text=_(
            "One line that starts with its type, such as ssh-ed25519, for example from "
            "~/.ssh/id_ed25519.pub. Several keys: one a line. Never the private key."
        ),
        widget=forms.Textarea(
            attrs={"class": "mono", "rows": 4, "spellcheck": "false", "autocomplete": "off"}
        ),
    )
    pay_with = forms.CharField(label=_("Pay with"), max_length=100)
    accept_terms = forms.BooleanField(
        label=_("I accept the terms"), error_messages={"required": _("The terms must be accepted.")}
    )
    replaces = forms.RegexField(r"^ord_[0-9A-Z]{20,40}$", required=False, widget=forms.HiddenInput)
    field_order = (
        "name",
        "email",
        "company",
        "ssh_keys",
        "ssh_key_file",
        "pay_with",
        "accept_terms",
        "replaces",
    )

    def __init__(
        self, *args: Any, offers: Sequence[CryptoOffer] = (), takes_card: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.set_ways(offers=offers, takes_card=takes_card)
        values = [choice_value(offer) for offer in offers] + [CARD_VALUE] * takes_card
        if len(values) == 1:
            self.fields["pay_with"].initial = values[0]

    def set_ways(self, *, offers: Sequence[CryptoOffer], takes_card: bool) -> None:
        """What the page shows to choose from. Whether a choice is offered is asked of the checkout."""
        self.offers = offers
        self.takes_card = takes_card

    def payment_choice(self) -> PaymentChoice:
        return BankCardChoice() if self.cleaned_data["pay_with"] == CARD_VALUE else self.crypto_choice()

    def crypto_choice(self) -> CryptoChoice:
        network, _separator, asset = str(self.cleaned_data["pay_with"]).partition(":")
        return CryptoChoice(network=network, asset=asset)

    def refuse(self, refusal: Refusal) -> None:
        """Show a refusal beside the field that it names."""
        show_refusal(self, refusal, fields=FIELDS)


def choice_value(offer: CryptoOffer) -> str:
    """The value of a way of paying in the form."""
    return f"{offer.network.slug}:{offer.asset.symbol}"
