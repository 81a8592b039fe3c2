"""What a catalogue file would change: compared row by row with what is stored, refused where it must not be."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from catalog import sizes
from catalog.figures import ACCELERATOR, OPTION, TERM, Figure, Figures
from catalog.import_file import FileError, shown
from catalog.import_rows import HOST_FIGURES, IMAGE, LOT, SECTIONS, FileRow, FileRows, column_of
from catalog.models import Accelerator, Image, Lot, Option, Term
from catalog.validators import CODE_MAX_LENGTH

# What an order means: while one is open on a row, these stay as they were when it was sold.
IDENTITY = {
    ACCELERATOR: ("name", "vendor", "memory_gb", "stack", "target", "host_arch"),
    OPTION: ("name", "unit", "recurring"),
    IMAGE: ("name", "stack", "stack_version"),
}
_SECTION_OF = {section.kind: section for section in SECTIONS.values()}
_LARGEST = 2**31 - 1
_HOST = (*HOST_FIGURES, "uplink_gbit_s")


@dataclass(frozen=True, slots=True)
class InUse:
    """Codes that open orders stand on, by kind of row."""

    codes: Mapping[str, frozenset[str]]

    def holds(self, kind: str, code: str) -> bool:
        return code in self.codes.get(kind, frozenset())


@dataclass(frozen=True, slots=True)
class Diff:
    """A row that the file adds (`old` is empty then) or changes; only what differs is named."""

    kind: str
    code: str
    added: bool
    old: Mapping[str, Any]
    new: Mapping[str, Any]
    parent: str = ""


@dataclass(frozen=True, slots=True)
class FigureDiff:
    """A price that goes into the draft. `old` is what the draft, or else the live table, holds."""

    kind: str
    code: str
    old: Figure
    new: Figure


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """`staying` are rows that the file does not name; they are never removed."""

    diffs: tuple[Diff, ...]
    figures: tuple[FigureDiff, ...]
    unchanged: int
    staying: tuple[tuple[str, str], ...]

    @property
    def is_empty(self) -> bool:
        return not self.diffs and not self.figures

    def digest(self, content: bytes) -> str:
        """Names this file together with all that it would change now: who confirms one confirms both."""
        # A text that went through a form comes back with other line ends.
        text = hashlib.sha256(content.replace(b"\r\n", b"\n").strip()).hexdigest()
        told = [[d.kind, d.code, d.added, dict(d.old), dict(d.new)] for d in self.diffs]
        told += [[f.kind, f.code, f.old, f.new] for f in self.figures]
        return hashlib.sha256(json.dumps([text, told], default=str, sort_keys=True).encode()).hexdigest()


@dataclass
class Planner:
    """Compares one file with the tables; `figures` are those of the draft over the live ones."""

    in_use: InUse
    figures: Figures
    errors: list[FileError] = field(default_factory=list)
    diffs: list[Diff] = field(default_factory=list)
    unchanged: int = 0

    def plan(self, file: FileRows) -> ImportPlan:
        """7 queries. Trust the plan only where `errors` stayed empty."""
        self.stored: dict[str, dict[str, Any]] = {
            TERM: {str(term.days): term for term in Term.objects.all()},
            ACCELERATOR: {row.slug: row for row in Accelerator.objects.all()},
            LOT: {lot.code: lot for lot in Lot.objects.select_related("accelerator")},
            OPTION: {option.code: option for option in Option.objects.prefetch_related("lots")},
            IMAGE: {image.code: image for image in Image.objects.all()},
        }
        for row in file.rows:
            if row.kind in (TERM, ACCELERATOR):
                self._row(row, dict(row.values))
        lots = self._lots(file)
        for row in file.rows:
            if row.kind == OPTION:
                self._row(row, {**row.values, **self._option_lots(row, lots)})
            elif row.kind == IMAGE:
                self._row(row, dict(row.values))
        return ImportPlan(
            tuple(self.diffs), tuple(self._figures(file)), self.unchanged, tuple(self._staying(file))
        )

    def _row(self, row: FileRow, values: dict[str, Any]) -> None:
        stored = self.stored[row.kind].get(row.code)
        if stored is None:
            for name in _required(_SECTION_OF[row.kind].model, _SECTION_OF[row.kind].columns):
                if name not in values:
                    self._wrong(f"{row.place}.{name}", "", _("This value is missing, and the row is new."))
            self.diffs.append(Diff(row.kind, row.code, True, {}, values))
            return
        old = {name: _stored_value(stored, name) for name in values}
        self._compare(row.kind, row.code, old, values)
        if self.in_use.holds(row.kind, row.code):
            for name in IDENTITY.get(row.kind, ()):
                if name in values and values[name] != old[name]:
                    text = _("Open orders stand on this row, so it must stay as it is: %(value)s.")
                    self._wrong(f"{row.place}.{name}", values[name], text % {"value": shown(old[name])})

    def _compare(self, kind: str, code: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        differing = [name for name in new if old[name] != new[name]]
        if not differing:
            self.unchanged += 1
            return
        self.diffs.append(
            Diff(kind, code, False, {name: old[name] for name in differing}, {n: new[n] for n in differing})
        )

    def _lots(self, file: FileRows) -> dict[str, set[str]]:
        """Plans the lots of the file; answers all codes by accelerator, as they will be."""
        self.node_sizes = sizes.node_sizes()
        lots: dict[str, set[str]] = {slug: set() for slug in self.stored[ACCELERATOR]}
        for lot in self.stored[LOT].values():
            lots[lot.accelerator.slug].add(lot.code)
        stated = {row.code: row for row in file.rows if row.kind == ACCELERATOR}
        for slug in stated:
            lots.setdefault(slug, set())
        for slug in file.hosts.keys() - lots.keys():
            self._wrong(f"hosts.{slug}", slug, _("There is no such accelerator, here or in the shop."))
        for slug, codes in lots.items():
            row = stated.get(slug)
            counts = set(row.cards or ()) if row else set()
            if slug in file.hosts and (row is None or row.cards is None):
                counts = {lot.cards for lot in self.stored[LOT].values() if lot.accelerator.slug == slug}
            for count in sorted(counts):
                code = f"{slug}x{count}"
                codes.add(code)
                self._lot(slug, code, count, file.hosts.get(slug, {}))
        return lots

    def _lot(self, slug: str, code: str, cards: int, host: Mapping[str, Any]) -> None:
        values = {
            name: value * cards if name in HOST_FIGURES and value is not None else value
            for name, value in host.items()
        }
        for name, value in values.items():
            if name in HOST_FIGURES and (value or 0) > _LARGEST:
                self._wrong(f"hosts.{slug}.{name}", host[name], _("This number is too large."))
        if len(code) > CODE_MAX_LENGTH:
            self._wrong(slug, code, _("The code of this lot would be too long."))
        stored = self.stored[LOT].get(code)
        why = sizes.refusal(accelerator=slug, cards=cards, sizes=self.node_sizes) if stored is None else ""
        if why:
            self._wrong(slug, code, why)
        known = stored is not None and any(getattr(stored, name) is not None for name in _HOST)
        if not known and any(values.get(name) is not None for name in _HOST):
            # Figures of hosts are taken for examples until the file says that they are not: pages must not overstate.
            values.setdefault("specs_are_demo", True)
        if stored is not None:
            self._compare(LOT, code, {name: getattr(stored, name) for name in values}, values)
        else:
            self.diffs.append(Diff(LOT, code, True, {}, {"cards": cards, **values}, parent=slug))

    def _option_lots(self, row: FileRow, lots: Mapping[str, set[str]]) -> dict[str, Any]:
        if row.targets is None:
            return {}
        for slug in row.targets:
            if slug not in lots:
                text = _("There is no such accelerator, here or in the shop.")
                self._wrong(f"{row.place}.accelerators", slug, text)
        codes = {code for slug in row.targets for code in lots.get(slug, ())}
        return {"for_all_lots": False, "lots": sorted(codes)}

    def _figures(self, file: FileRows) -> Iterable[FigureDiff]:
        for row in file.rows:
            if row.figure is None:
                continue
            default = Decimal("0.00") if row.kind == TERM else None
            old = self.figures.get((row.kind, row.code), default)
            if old != row.figure[0]:
                yield FigureDiff(row.kind, row.code, old, row.figure[0])

    def _staying(self, file: FileRows) -> Iterable[tuple[str, str]]:
        named = {(row.kind, row.code) for row in file.rows}
        for name in SECTIONS:
            kind = SECTIONS[name].kind
            if name in file.sections:
                yield from ((kind, code) for code in self.stored[kind] if (kind, code) not in named)
        cards = {row.code: row.cards for row in file.rows if row.kind == ACCELERATOR}
        for code, lot in self.stored[LOT].items():
            counts = cards.get(lot.accelerator.slug)
            if counts is not None and lot.cards not in counts:
                yield LOT, code

    def _wrong(self, place: str, value: object, text: Any) -> None:
        self.errors.append(FileError(shown(place), shown(value), text))


def _stored_value(row: models.Model, name: str) -> Any:
    if name == "lots" and isinstance(row, Option):
        return sorted(lot.code for lot in row.lots.all())
    return getattr(row, name)


def _required(model: type[models.Model], columns: Iterable[str]) -> Iterable[str]:
    for name in columns:
        column = column_of(model, name)
        if not (column.null or column.blank or column.has_default()):
            yield name
