"""The filters of the catalogue, a plain GET form: the address is the list."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from catalog.models.accelerator import Stack
from core import units

# Steps at which the cards of the market differ; any whole number may be asked for by address.
MEMORY_STEPS = (24, 48, 80, 141, 180)
MOST_COMPARED = 4
_gb = lazy(units.gb, str)
SORTS = (
    ("memory", _("Memory, small first")),
    ("price", _("Price of the lot")),
    ("per_gb", _("Price per GB")),
    ("bandwidth", _("Bandwidth, large first")),
)


class CatalogFilterForm(forms.Form):
    """Nothing is required; an empty field does not filter. The template draws the terms and the boxes to compare."""

    days = forms.TypedChoiceField(
        label=_("Term"),
        required=False,
        coerce=int,
        empty_value=None,
        error_messages={"invalid_choice": _("Choose one of the terms on offer.")},
    )
    min_memory_gb = forms.IntegerField(
        label=_("Memory per card, at least"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        widget=forms.Select(choices=[("", _("Any")), *((step, _gb(step)) for step in MEMORY_STEPS)]),
    )
    vendor = forms.ChoiceField(label=_("Vendor"), required=False)
    stack = forms.ChoiceField(
        label=_("Software stack"), required=False, choices=[("", _("CUDA or ROCm")), *Stack.choices]
    )
    cards = forms.TypedChoiceField(label=_("Cards per lot"), required=False, coerce=int, empty_value=None)
    max_price = forms.IntegerField(
        label=_("Price of the lot, at most"),
        required=False,
        min_value=1,
        max_value=100_000_000,
        widget=forms.NumberInput(attrs={"min": 1, "inputmode": "numeric"}),
    )
    sort = forms.ChoiceField(label=_("Sort by"), required=False, choices=SORTS)
    free = forms.BooleanField(label=_("Only what is free now"), required=False)
    compare = forms.MultipleChoiceField(
        label=_("Compare"),
        required=False,
        error_messages={"invalid_choice": _("One of the accelerators to compare does not exist.")},
    )

    def __init__(
        self,
        *args: Any,
        terms: Sequence[int],
        vendors: Iterable[str],
        sizes: Iterable[int],
        accelerators: Iterable[str],
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        self._choose_from("days", [(days, str(days)) for days in terms])
        self._choose_from("vendor", [("", _("All")), *((name, name) for name in vendors)])
        sold = [
            (size, ngettext_lazy("%(count)d card", "%(count)d cards", size) % {"count": size})
            for size in sizes
        ]
        self._choose_from("cards", [("", _("Any")), *sold])
        self._choose_from("compare", [(slug, slug) for slug in accelerators])

    @property
    def filter_fields(self) -> list[forms.BoundField]:
        """Those that the filter draws one after another."""
        names = ("min_memory_gb", "vendor", "stack", "cards", "max_price", "sort")
        return [self[name] for name in names]

    def clean_compare(self) -> list[str]:
        """Each once, in the order of the address; at most four fit beside each other."""
        chosen = list(dict.fromkeys(self.cleaned_data["compare"]))
        if len(chosen) > MOST_COMPARED:
            raise ValidationError(
                ngettext_lazy(
                    "At most %(most)d accelerator fits into a comparison. Take some of them out.",
                    "At most %(most)d accelerators fit into a comparison. Take some of them out.",
                    "most",
                ),
                code="too_many",
                params={"most": MOST_COMPARED},
            )
        return chosen

    def _choose_from(self, name: str, choices: list[tuple[Any, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101  # nosec B101 # for the type alone
        field.choices = choices
