"""Forms about the lease: keys of members, and what is to be taken away before the end."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core.errors import Refusal
from core.formats import NARROW_NO_BREAK, NO_BREAK, current_locale, plain_amount
from fleet.export import ExportPlan
from fleet.services.members import MAX_MEMBER
from shop.forms.keys import KeyFields
from shop.forms.refused import show_refusal

_BYTES_PER_GB = 10**9
_RATE_UNITS = {"mb_s": 10**6, "gbit_s": 125 * 10**6}
# More places than any figure here has; what is longer is no figure.
_MAX_NUMBER = 30


class KeyForm(KeyFields):
    """One or several public keys of a lease."""

    def refuse(self, refusal: Refusal) -> None:
        """Show a refusal beside the field that it names."""
        show_refusal(self, refusal, fields={"ssh_keys": "ssh_keys", "member": "member"})


class MemberForm(KeyForm):
    """Who else may log in."""

    member = forms.CharField(
        label=_("Whose key"),
        required=False,
        help_text=_("A name that you recognise in the log."),
        max_length=10 * MAX_MEMBER,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    field_order = ("member", "ssh_keys", "ssh_key_file")


class LocalDecimal(forms.Field):
    """A positive number as it is written in the page's language, or plainly with a point or a comma.

    1,200 in English and 1.200 in German are grouped; where neither reading is certain the number is asked back.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            required=False,
            widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
            **kwargs,
        )

    def to_python(self, value: Any) -> Any:
        text = str(value or "").strip()
        return local_decimal(text) if text else None


def local_decimal(text: str) -> Decimal:
    """Raises forms.ValidationError for what is no number or could be two."""
    locale = current_locale()
    point = locale.decimal
    refused = forms.ValidationError(
        _("Write this number plainly, for example %(example)s."),
        code="number",
        params={"example": f"1200{point}5"},
    )
    if len(text) > _MAX_NUMBER:
        raise refused
    other = "," if point == "." else "."
    for blank in (NO_BREAK, NARROW_NO_BREAK, " "):
        text = re.sub(rf"(?<=\d){blank}(?=\d{{3}}(?!\d))", "", text)
    if locale.group == other and re.fullmatch(
        rf"[1-9]\d{{0,2}}(?:{re.escape(other)}\d{{3}})+(?:{re.escape(point)}\d+)?", text, re.ASCII
    ):
        return Decimal(text.replace(other, "").replace(point, "."))
    if re.fullmatch(rf"\d+(?:{re.escape(point)}\d+)?", text, re.ASCII):
        return Decimal(text.replace(point, "."))
    # 0,125 cannot be grouped, 1,5 is not: with the other sign it is a fraction too.
    if re.fullmatch(rf"(?:0{re.escape(other)}\d+|\d+{re.escape(other)}(?!\d{{3}}$)\d+)", text, re.ASCII):
        return Decimal(text.replace(other, "."))
    raise refused


class ExportForm(forms.Form):
    """How much is to be taken away, and how fast. Bounds are those of the service."""

    size = LocalDecimal(label=_("Data to take along, GB"), help_text=_("1 GB = 1,000,000,000 bytes."))
    rate = LocalDecimal(
        label=_("Rate that you reach"),
        help_text=_("Measured from the machine to where the data goes. Empty: half of the published uplink."),
    )
    rate_unit = forms.ChoiceField(
        label=_("Unit of the rate"),
        required=False,
        choices=[
            ("mb_s", _("MB/s (million bytes a second)")),
            ("gbit_s", _("Gbit/s (1 Gbit/s = 125 MB/s)")),
        ],
    )

    def __init__(self, *args: Any, plan: ExportPlan | None = None, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        if plan is not None:
            self.fields["size"].initial = _shown(plan.size_gb)
            self.fields["rate"].initial = _shown(plan.declared_rate_mb_s)

    def size_bytes(self) -> int | None:
        value = self.cleaned_data.get("size")
        return None if value is None else int(value * _BYTES_PER_GB)

    def rate_bytes_s(self) -> int | None:
        value = self.cleaned_data.get("rate")
        unit = _RATE_UNITS[self.cleaned_data.get("rate_unit") or "mb_s"]
        return None if value is None else int(value * unit)

    def refuse(self, refusal: Refusal) -> None:
        """Show a refusal beside the field that it names."""
        show_refusal(self, refusal, fields={"size": "size", "rate": "rate"})


def _shown(value: Decimal | None) -> str:
    """As it may be typed again in this language: no groups, its decimal sign."""
    return "" if value is None else plain_amount(value, places=None).replace(".", current_locale().decimal)
