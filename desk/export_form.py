"""What is asked before a table leaves as a file."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core.csv_safe import SEPARATORS
from core.export import Period, Table, last_month

# The form of a date field is that of the standard, in every language.
_DAY = "%Y-%m-%d"
_SEPARATOR_WORDS = {
    "comma": _("Comma: for programs, and for spreadsheets set to English"),
    "semicolon": _("Semicolon: for spreadsheets set to German, French or Russian"),
    "tab": _("Tab"),
}


def _day(label: Any) -> forms.DateField:
    return forms.DateField(
        label=label, input_formats=[_DAY], widget=forms.DateInput(format=_DAY, attrs={"type": "date"})
    )


class ExportForm(forms.Form):
    """Kind, period and separator; the last month unless told otherwise."""

    table = forms.ChoiceField(label=_("Table"), widget=forms.RadioSelect)
    first = _day(_("From"))
    last = _day(_("To, this day included"))
    separator = forms.ChoiceField(
        label=_("Separator"), choices=[(name, _SEPARATOR_WORDS[name]) for name in SEPARATORS]
    )

    def __init__(self, data: Any = None, *, tables: list[Table[Any]]) -> None:
        month = last_month()
        initial = {
            "table": tables[0].name if tables else "",
            "first": month.first,
            "last": month.last,
            "separator": "comma",
        }
        super().__init__(data, initial=initial, label_suffix="")
        choices = [(table.name, table.label) for table in tables]
        # In the place of the one above, which only names it.
        self.fields["table"] = forms.ChoiceField(label=_("Table"), choices=choices, widget=forms.RadioSelect)

    @property
    def period(self) -> Period:
        return Period(first=self.cleaned_data["first"], last=self.cleaned_data["last"])
