"""The price draft as a table: what sells now, what the draft says, what was typed, and what was wrong with that."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog.figures import (
    ACCELERATOR,
    OPTION,
    TERM,
    Figures,
    Key,
    draft_figures,
    figure_text,
    live_figures,
    read_figure,
)
from catalog.models import Accelerator, Option, PriceDraft, Term
from catalog.services.draft import Change
from core import clock
from orders.lifecycle import QuoteStatus
from orders.models import Quote


@dataclass(slots=True)
class FigureRow:
    """One figure. `shown` is what the draft held when the page was made; it comes back with the form."""

    kind: str
    code: str
    name: str
    note: str
    live: str
    shown: str
    typed: str
    errors: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Name of the control, and of its place on the page."""
        return f"{self.kind}.{self.code}"

    @property
    def changed(self) -> bool:
        return self.shown != self.live


@dataclass(frozen=True, slots=True)
class FigureTable:
    """Figures by kind, and what a form asked to change of them."""

    accelerators: list[FigureRow]
    terms: list[FigureRow]
    options: list[FigureRow]
    changes: Mapping[Key, Change]

    @property
    def rows(self) -> list[FigureRow]:
        return [*self.accelerators, *self.terms, *self.options]

    @property
    def errors(self) -> list[FigureRow]:
        return [row for row in self.rows if row.errors]

    def say_moved(self, stored: Figures) -> None:
        """Show what somebody else has saved at the figures that both changed; the next save knows of it."""
        for row in self.rows:
            if (row.kind, row.code) in stored:
                row.shown = figure_text(stored[row.kind, row.code])
                value = row.shown or _("empty")
                row.errors.append(_("This is now %(value)s. Save again to replace it.") % {"value": value})


def figure_table(*, draft: PriceDraft | None, data: QueryDict | None = None) -> FigureTable:
    """The table, with what was typed where a form is given. 6 queries."""
    live = live_figures()
    figures = {**live, **draft_figures(draft)}
    changes: dict[Key, Change] = {}
    found: dict[str, list[FigureRow]] = {ACCELERATOR: [], TERM: [], OPTION: []}
    for kind, code, name, note in _names():
        if (kind, code) not in figures:
            continue  # added between two reads; the next page shows it
        shown = figure_text(figures[kind, code])
        row = FigureRow(kind, code, name, note, figure_text(live[kind, code]), shown, shown)
        if data is not None and row.id in data:
            _read(row, data, changes)
        found[kind].append(row)
    return FigureTable(found[ACCELERATOR], found[TERM], found[OPTION], changes)


def _read(row: FigureRow, data: QueryDict, changes: dict[Key, Change]) -> None:
    """Take what was typed, if its author changed it; an untouched figure follows the draft."""
    typed, was = str(data[row.id]).strip(), data.get(f"{row.id}.was", "")
    if typed == was:
        return
    row.typed = typed
    try:
        change = Change(was=read_figure(row.kind, was), now=read_figure(row.kind, typed))
    except ValidationError as error:
        row.errors = list(error.messages)
    else:
        changes[row.kind, row.code] = change


def _names() -> list[tuple[str, str, str, str]]:
    rows = [
        (ACCELERATOR, one.slug, one.name, one.slug) for one in Accelerator.objects.order_by("name", "slug")
    ]
    for term in Term.objects.order_by("days"):
        name = ngettext("%(days)s day", "%(days)s days", term.days) % {"days": term.days}
        rows.append((TERM, str(term.days), name, _(term.meant_for) if term.meant_for else ""))
    for option in Option.objects.order_by("name"):
        unit = {"unit": _(option.unit)}
        note = _("for one %(unit)s a day") if option.recurring else _("for one %(unit)s, once")
        rows.append((OPTION, option.code, _(option.name), note % unit))
    return rows


def open_quotes() -> int:
    """How many quotes hold a price at this moment. 1 query."""
    return Quote.objects.filter(status=QuoteStatus.OPEN, expires_at__gt=clock.now()).count()
