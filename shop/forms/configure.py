"""The configurator: what a buyer wants priced. The services judge; the form only reads."""

from collections.abc import Sequence
from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from catalog.offers import OptionChoice
from catalog.tax import BUSINESS, CONSUMER, countries
from core.errors import Refusal
from shop.forms.refused import show_refusal

SOON, CHOSEN = "soon", "chosen"
OPTION_PREFIX = "option_"
# More than any order can hold; the services say what is possible.
_MAX_POSTED_OPTIONS = 60

FIELDS = {
    "lot": "lot",
    "lots": "lots",
    "days": "days",
    "image": "image",
    "starts_at": "start_date",
    "bill_to.country": "country",
    "bill_to.kind": "kind",
    "bill_to.vat_id": "vat_id",
}


class ConfigureForm(forms.Form):
    """Radio buttons are fields without choices of their own: what is not sold hears the service's words."""

    lot = forms.CharField(label=_("Lot"), max_length=100)
    lots = forms.IntegerField(
        label=_("Number of lots"),
        initial=1,
        widget=forms.NumberInput(attrs={"class": "short", "min": 1, "inputmode": "numeric"}),
    )
    days = forms.IntegerField(label=_("Term"))
    image = forms.CharField(label=_("Environment"), max_length=100)
    start = forms.ChoiceField(
        label=_("Start"),
        choices=[(SOON, _("As soon as it is paid and tested")), (CHOSEN, _("At an hour I choose"))],
        initial=SOON,
        required=False,
        widget=forms.RadioSelect,
    )
    start_date = forms.DateField(
        label=_("Day of the start"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    start_hour = forms.TypedChoiceField(
        label=_("Hour of the start, UTC"),
        coerce=int,
        empty_value=None,
        required=False,
        choices=[("", "–"), *((hour, f"{hour:02d}:00 UTC") for hour in range(24))],
    )
    country = forms.CharField(
        label=_("Country of the invoice"), max_length=2, widget=forms.Select(choices=countries())
    )
    kind = forms.CharField(
        label=_("You buy as"),
        max_length=20,
        initial=CONSUMER,
        widget=forms.RadioSelect(choices=[(CONSUMER, _("Consumer")), (BUSINESS, _("Business"))]),
    )
    vat_id = forms.CharField(
        label=_("VAT number"),
        max_length=40,
        required=False,
        help_text=_("Only for a business that has one."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    replaces = forms.RegexField(r"^ord_[0-9A-Z]{20,40}$", required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, option_fields: Sequence[tuple[str, str, int]] = (), **kwargs: Any) -> None:
        """`option_fields`: code, label and bound of each option on offer."""
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        self.fields["country"].initial = settings.SHOP_COUNTRY
        for code, label, maximum in option_fields:
            self.fields[OPTION_PREFIX + code] = forms.IntegerField(
                label=label,
                required=False,
                widget=forms.NumberInput(
                    attrs={"class": "short", "min": 0, "max": maximum, "inputmode": "numeric"}
                ),
            )
        self._add_posted_options()

    def _add_posted_options(self) -> None:
        """Options that were sent but are not offered: they are refused by name, not passed over."""
        posted = [str(name) for name in self.data if str(name).startswith(OPTION_PREFIX)]
        for name in posted[:_MAX_POSTED_OPTIONS]:
            if name not in self.fields:
                self.fields[name] = forms.IntegerField(
                    label=name.removeprefix(OPTION_PREFIX), required=False, widget=forms.HiddenInput
                )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("start") == CHOSEN:
            for name in ("start_date", "start_hour"):
                if cleaned.get(name) is None and name not in self.errors:
                    self.add_error(name, _("A chosen start needs a day and an hour."))
        return cleaned

    def option_choices(self) -> list[OptionChoice]:
        """What was asked for, in the order of the page; empty and 0 mean that an option is not wanted."""
        return [
            OptionChoice(code=name.removeprefix(OPTION_PREFIX), quantity=quantity)
            for name, quantity in self.cleaned_data.items()
            if name.startswith(OPTION_PREFIX) and quantity
        ]

    def starts_at(self) -> datetime | None:
        """The chosen start in UTC, or None for "as soon as possible"."""
        if self.cleaned_data.get("start") != CHOSEN:
            return None
        return datetime.combine(
            self.cleaned_data["start_date"], time(self.cleaned_data["start_hour"]), tzinfo=UTC
        )

    def refuse(self, refusal: Refusal) -> None:
        """Show a refusal beside the field that it names."""
        names = dict(FIELDS)
        for number, choice in enumerate(self.option_choices()):
            for part in ("code", "quantity"):
                names[f"options.{number}.{part}"] = OPTION_PREFIX + choice.code
        show_refusal(self, refusal, fields=names)
