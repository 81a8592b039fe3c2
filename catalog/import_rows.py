"""The rows of a catalogue file, each value checked by the column that it goes to. Nothing here reads the database.

A row says what it names and nothing else: what it leaves out stays as it is.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from catalog.data_files import ACCELERATOR_FACTS
from catalog.figures import ACCELERATOR, OPTION, TERM, Figure, read_figure
from catalog.import_file import FileError, shown
from catalog.models import Accelerator, Image, Lot, Option, Term
from core.text import is_storable

IMAGE = "image"
LOT = "lot"
HOST_FIGURES = ("vcpu", "ram_gb", "nvme_gb")  # by card; the uplink is the lot's whole
MAX_TEXT = 2000


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a section. `figure` is a price that the file states, `targets` the accelerators of an option."""

    kind: str
    code: str
    place: str
    values: Mapping[str, Any]
    figure: tuple[Figure] | None = None
    cards: tuple[int, ...] | None = None
    targets: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class FileRows:
    rows: tuple[FileRow, ...]
    hosts: Mapping[str, Mapping[str, Any]]
    sections: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Section:
    kind: str
    model: type[models.Model]
    key: str
    columns: tuple[str, ...]
    figures: tuple[str, ...] = ()


SECTIONS = {
    "terms": _Section(TERM, Term, "days", ("meant_for",), ("discount",)),
    "accelerators": _Section(
        ACCELERATOR,
        Accelerator,
        "slug",
        (*ACCELERATOR_FACTS, "driver_minimum", "conflict"),
        ("card_hour_amount", "demo_price_card_hour"),
    ),
    "options": _Section(
        OPTION,
        Option,
        "code",
        ("name", "description", "needs", "unit", "recurring", "max_quantity", "on_sale"),
        ("unit_amount",),
    ),
    "images": _Section(
        IMAGE,
        Image,
        "code",
        (
            "name",
            "description",
            "targets",
            "host_archs",
            "stack",
            "stack_version",
            "driver_minimum",
            "on_sale",
        ),
    ),
}


@dataclass
class RowReader:
    """Reads one document and collects everything that is wrong with it."""

    errors: list[FileError] = field(default_factory=list)

    def read(self, document: Mapping[str, Any]) -> FileRows:
        """The rows that could be read; trust them only where `errors` stayed empty."""
        for name in sorted(document.keys() - {*SECTIONS, "currency", "hosts"}):
            # A sentence of its own is a remark for whoever reads the file; the shipped ones have some.
            if not isinstance(document[name], str):
                self.wrong(name, document[name], _("There is no such section."))
        if not document.keys() & {*SECTIONS, "hosts"}:
            self.wrong("", "", _("The file names nothing of the catalogue."))
        if "currency" in document and document["currency"] != settings.CURRENCY:
            text = _("This shop sells in %(currency)s.") % {"currency": settings.CURRENCY}
            self.wrong("currency", document["currency"], text)
        rows = [row for name in SECTIONS if name in document for row in self._section(name, document[name])]
        hosts = self._hosts(document.get("hosts", {}))
        return FileRows(tuple(rows), hosts, frozenset(document.keys() & SECTIONS.keys()))

    def wrong(self, place: str, value: object, text: Any) -> None:
        self.errors.append(FileError(shown(place), shown(value), text))

    def column(self, model: type[models.Model], name: str, value: object, place: str) -> Any:
        """A value as its column holds it; None and an error where it cannot."""
        column = column_of(model, name)
        try:
            return column.clean(_typed(column, value), None)
        except ValidationError as error:
            for text in error.messages:
                self.wrong(place, value, text)
            return None

    def _section(self, name: str, found: object) -> Iterator[FileRow]:
        if not isinstance(found, list):
            self.wrong(name, found, _("This must be a list of rows."))
            return
        met: set[object] = set()
        for number, row in enumerate(found, start=1):
            place = f"{name}[{number}]"
            if not isinstance(row, dict):
                self.wrong(place, row, _("This must be a row with named values."))
                continue
            section = SECTIONS[name]
            key = row.get(section.key)
            if key is None:
                self.wrong(f"{place}.{section.key}", "", _("This value is missing: it names the row."))
                continue
            if self.column(section.model, section.key, key, f"{place}.{section.key}") is None:
                continue
            if key in met:
                self.wrong(f"{place}.{section.key}", key, _("Two rows of this file have the same name."))
                continue
            met.add(key)
            yield self._row(section, str(key), row, place)

    def _row(self, section: _Section, code: str, row: Mapping[str, Any], place: str) -> FileRow:
        place = f"{place} {code}"
        extra = {"accelerators": ("cards_per_lot",), "options": ("accelerators",)}
        names = {section.key, *section.columns, *section.figures}
        names |= {name for part, more in extra.items() if SECTIONS[part] is section for name in more}
        for name in sorted(row.keys() - names):
            self.wrong(f"{place}.{name}", row[name], _("There is no such value."))
        values = {
            name: self.column(section.model, name, row[name], f"{place}.{name}")
            for name in section.columns
            if name in row
        }
        return FileRow(
            kind=section.kind,
            code=code,
            place=place,
            values=values,
            figure=self._figure(section, row, place),
            cards=self._cards(row, place) if section.kind == ACCELERATOR else None,
            targets=self._targets(row, place) if section.kind == OPTION else None,
        )

    def _figure(self, section: _Section, row: Mapping[str, Any], place: str) -> tuple[Figure] | None:
        stated = [name for name in section.figures if name in row]
        if not stated:
            return None
        name = stated[0]
        if len(stated) > 1:
            self.wrong(f"{place}.{name}", row[name], _("The price stands here twice, under two names."))
            return None
        value = row[name]
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal | None):
            self.wrong(f"{place}.{name}", value, _("This must be a number."))
            return None
        try:
            return (read_figure(section.kind, "" if value is None else str(value)),)
        except ValidationError as error:
            for text in error.messages:
                self.wrong(f"{place}.{name}", value, text)
            return None

    def _cards(self, row: Mapping[str, Any], place: str) -> tuple[int, ...] | None:
        if "cards_per_lot" not in row:
            return None
        found, where = row["cards_per_lot"], f"{place}.cards_per_lot"
        if not isinstance(found, list):
            self.wrong(where, found, _("This must be a list of numbers of cards."))
            return None
        cards = [self.column(Lot, "cards", count, where) for count in found]
        if len(set(cards)) != len(cards):
            self.wrong(where, found, _("A number of cards stands here twice."))
        return tuple(count for count in cards if count is not None)

    def _targets(self, row: Mapping[str, Any], place: str) -> tuple[str, ...] | None:
        if "accelerators" not in row:
            return None
        found, where = row["accelerators"], f"{place}.accelerators"
        if not isinstance(found, list) or not all(isinstance(slug, str) for slug in found):
            self.wrong(where, found, _("This must be a list of accelerators."))
            return None
        return tuple(found)

    def _hosts(self, found: object) -> dict[str, dict[str, Any]]:
        if not isinstance(found, dict):
            self.wrong("hosts", found, _("This must be a table of accelerators."))
            return {}
        hosts: dict[str, dict[str, Any]] = {}
        for slug, host in found.items():
            if not isinstance(host, dict):
                self.wrong(f"hosts.{slug}", host, _("This must be a row with named values."))
                continue
            names = (*HOST_FIGURES, "uplink_gbit_s", "specs_are_demo")
            for name in sorted(host.keys() - set(names)):
                self.wrong(f"hosts.{slug}.{name}", host[name], _("There is no such value."))
            hosts[slug] = {
                name: self.column(Lot, name, host[name], f"hosts.{slug}.{name}")
                for name in names
                if name in host
            }
        return hosts


def column_of(model: type[models.Model], name: str) -> "models.Field[Any, Any]":
    """A column of a table, no relation."""
    column = model._meta.get_field(name)
    if not isinstance(column, models.Field):
        raise TypeError(f"{name} is a relation.")
    return column


def _typed(column: "models.Field[Any, Any]", value: object) -> object:
    """The value, if it has the type that the column holds: a column alone would take "1" for True."""
    if value is None:
        return None
    if isinstance(column, models.BooleanField):
        _require(isinstance(value, bool), _("This must be true or false."))
    elif isinstance(column, models.DecimalField):
        return _number(value)
    elif isinstance(column, models.IntegerField):
        _require(isinstance(value, int) and not isinstance(value, bool), _("This must be a whole number."))
    elif isinstance(column, ArrayField):
        _require(isinstance(value, list), _("This must be a list of texts."))
        return [_text(part) for part in value]  # type: ignore[attr-defined]
    elif isinstance(column, models.JSONField):
        return _counts(value)
    else:
        return _text(value)
    return value


def _require(holds: bool, text: Any) -> None:
    if not holds:
        raise ValidationError(text)


def _number(value: object) -> Decimal:
    _require(
        isinstance(value, str | int | Decimal) and not isinstance(value, bool), _("This must be a number.")
    )
    try:
        number = Decimal(str(value))
    except ArithmeticError as error:
        raise ValidationError(_("This must be a number.")) from error
    _require(number.is_finite(), _("This must be a number."))
    _require(number >= 0, _("This must not be below zero."))
    return number


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValidationError(_("This must be a text."))
    _require(is_storable(value), _("This text holds a character that cannot be stored."))
    _require(len(value) <= MAX_TEXT, _("This text is longer than 2,000 characters."))
    return value


def _counts(value: object) -> object:
    """Cores by kind: names with whole numbers, null for unknown."""
    if not isinstance(value, dict):
        raise ValidationError(_("This must be a table of whole numbers."))
    for name, count in value.items():
        _text(name)
        whole = isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**31
        _require(count is None or whole, _("This must be a table of whole numbers."))
    return json.loads(json.dumps(value))
