"""The figures that prices are made of: a card-hour for each accelerator, a discount for each term, a unit for each
option. What an operator may type for one is decided here, for the page and for a file alike.
"""

from collections.abc import Mapping
from decimal import Decimal

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from catalog.models import Accelerator, Option, PriceDraft, Term

ACCELERATOR, TERM, OPTION = "accelerator", "term", "option"

# None: no price, so shown and not on sale. A term always has a discount.
Figure = Decimal | None
Key = tuple[str, str]
Figures = Mapping[Key, Figure]

# Far above any price; the largest table price (64 cards, 366 days) then still fits its column.
MAX_AMOUNT = Decimal(99_999)
_MAX_TYPED = 40
_FIELDS = {
    ACCELERATOR: forms.DecimalField(
        required=False,
        min_value=Decimal("0.0001"),
        max_value=MAX_AMOUNT,
        max_digits=9,
        decimal_places=4,
        error_messages={"min_value": _("A price must be above zero. Leave it empty to take it off sale.")},
    ),
    TERM: forms.DecimalField(
        min_value=Decimal(0),
        max_value=Decimal("0.99"),
        max_digits=4,
        decimal_places=2,
        error_messages={
            "min_value": _("A discount lies between 0 and 0.99."),
            "max_value": _("A discount lies between 0 and 0.99."),
        },
    ),
    OPTION: forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        max_value=MAX_AMOUNT,
        max_digits=9,
        decimal_places=4,
        error_messages={"min_value": _("A price must not be negative.")},
    ),
}


def read_figure(kind: str, text: str) -> Figure:
    """What was typed for one figure. Raises ValidationError with one sentence for people."""
    if len(text) > _MAX_TYPED:
        raise ValidationError(_("This is no price: it is too long."))
    value: Decimal | None = _FIELDS[kind].clean(text)
    return value


def figure_text(value: Figure) -> str:
    """A figure as it is typed: a point, no needless zeros, at least two places; empty without a price."""
    if value is None:
        return ""
    whole, _point, places = f"{value:f}".partition(".")
    return f"{whole}.{places.rstrip('0').ljust(2, '0')}"


def live_figures() -> dict[Key, Figure]:
    """The figures behind the table that sells, in the order of the pages. 3 queries."""
    found: dict[Key, Figure] = {}
    for slug, amount in Accelerator.objects.values_list("slug", "card_hour_amount"):
        found[ACCELERATOR, slug] = amount
    for days, discount in Term.objects.values_list("days", "discount"):
        found[TERM, str(days)] = discount
    for code, amount in Option.objects.values_list("code", "unit_amount"):
        found[OPTION, code] = amount
    return found


def draft_figures(draft: PriceDraft | None) -> dict[Key, Figure]:
    """What a draft changes."""
    stored = draft.figures if draft else {}
    return {
        (kind, code): None if text is None else Decimal(text)
        for kind, texts in stored.items()
        for code, text in texts.items()
    }


def stored_figures(figures: Figures) -> dict[str, dict[str, str | None]]:
    """The same as a draft keeps it, and the audit."""
    found: dict[str, dict[str, str | None]] = {}
    for (kind, code), value in sorted(figures.items()):
        found.setdefault(kind, {})[code] = None if value is None else figure_text(value)
    return found
