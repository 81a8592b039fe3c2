"""What the fleet page may be asked for: a time, and which nodes. The address is the page."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core import clock
from fleet.spans import Span

WEEKS = (1, 2, 3, 4, 6, 8)
DEFAULT_WEEKS = 3
# So much of the past is seen beside what is ahead where nothing else is asked for.
BEFORE = timedelta(days=3)
# A mistyped year has nothing to show.
FURTHEST = timedelta(days=2 * 366)


class FleetForm(forms.Form):
    """Nothing is required: an empty field asks for what is usual, and shows it."""

    weeks = forms.TypedChoiceField(
        label=_("Weeks"),
        required=False,
        coerce=int,
        empty_value=None,
        error_messages={"invalid_choice": _("Choose one of the numbers of weeks on offer.")},
    )
    node = forms.CharField(label=_("Node, part of its name"), required=False, max_length=60)
    accelerator = forms.ChoiceField(
        label=_("Accelerator"),
        required=False,
        error_messages={"invalid_choice": _("There is no such accelerator in the fleet.")},
    )

    def __init__(
        self, asked: Mapping[str, str], *, today: date, accelerators: Iterable[tuple[str, str]]
    ) -> None:
        usual = {"from": (today - BEFORE).isoformat(), "weeks": str(DEFAULT_WEEKS)}
        super().__init__(usual | {name: value for name, value in asked.items() if value}, label_suffix="")
        self.today = today
        # "from" is a word of the language and cannot be an attribute.
        first = forms.DateField(
            label=_("First day, UTC"),
            required=False,
            input_formats=["%Y-%m-%d"],
            widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
            error_messages={"invalid": _("Write the day as year, month and day: 2026-12-01.")},
        )
        self.fields = {"from": first, **self.fields}
        weeks = ngettext_lazy("%(count)d week", "%(count)d weeks", "count")
        self._choose_from("weeks", [(count, weeks % {"count": count}) for count in WEEKS])
        self._choose_from("accelerator", [("", _("All")), *accelerators])

    def clean(self) -> dict[str, Any]:
        first = self.cleaned_data.get("from")
        if first is not None and not self.is_near(first):
            self.add_error(
                "from", ValidationError(_("Choose a day within two years of today."), code="too_far")
            )
        return self.cleaned_data

    def is_near(self, day: date) -> bool:
        """Whether a day can be asked for."""
        return abs(day - self.today) <= FURTHEST

    def window(self) -> Span:
        """The asked time in whole days; the usual one where the form was refused."""
        asked = self.cleaned_data if self.is_valid() else {}
        first = asked.get("from") or self.today - BEFORE
        begins = clock.midnight(first)
        return begins, begins + timedelta(weeks=asked.get("weeks") or DEFAULT_WEEKS)

    def _choose_from(self, name: str, choices: list[tuple[Any, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101  # nosec B101 # for the type alone
        field.choices = choices
