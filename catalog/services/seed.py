"""Load the catalogue from its data files, repeatedly, without undoing what staff have changed since."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import models, transaction

from catalog import sizes
from catalog.data_files import CatalogData, SeedRow, load_catalog_data
from catalog.locks import price_table_for_update
from catalog.models import Accelerator, Image, Lot, Option, SeededRow, Term
from catalog.services.publish import Published, publish_prices, standing_table

CREATED = "created"
CHANGED = "changed"
NOT_IN_FILES = "not in the files"


@dataclass(frozen=True, slots=True)
class SeedChange:
    kind: str
    code: str
    action: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seeded:
    changes: tuple[SeedChange, ...]
    published: Published


@transaction.atomic
def seed_catalog(*, data: CatalogData | None = None) -> Seeded:
    """Bring the tables up to the data files and publish prices if they changed a figure.

    A field is written when the file's value is new or differs from what the file said at the last seed; one
    that staff edited since then is left alone (a withdrawn lot stays withdrawn). Nothing is deleted. Locks
    the right to publish. Raises ValidationError or IntegrityError for data that the models refuse. May be
    repeated.
    """
    price_table_for_update()
    if data is None:
        data = load_catalog_data(currency=settings.CURRENCY)
    seeder = _Seeder()
    seeder.put(Term, "term", data.terms, key="days")
    accelerators = seeder.put(Accelerator, "accelerator", data.accelerators, key="slug")
    lots = seeder.put(Lot, "lot", _sellable(data.lots), key="code", parents={"accelerator": accelerators})
    seeder.put(Option, "option", data.options, key="code", linked={"lots": lots})
    seeder.put(Image, "image", data.images, key="code")
    written = bool(seeder.changes)
    seeder.finish()
    # What staff have added and not yet published goes on sale by their word, not because a program was started.
    standing = None if written else standing_table()
    return Seeded(changes=tuple(seeder.changes), published=standing or publish_prices(note=data.note))


class _Seeder:
    """Remembers what was seeded before and collects what changes now."""

    def __init__(self) -> None:
        self.changes: list[SeedChange] = []
        self._before = {(row.kind, row.code): row for row in SeededRow.objects.all()}
        self._met: dict[tuple[str, str], SeededRow] = {}

    def put(
        self,
        model: type[models.Model],
        kind: str,
        rows: Iterable[SeedRow],
        *,
        key: str,
        parents: Mapping[str, Mapping[Any, Any]] | None = None,
        linked: Mapping[str, Mapping[Any, Any]] | None = None,
    ) -> dict[Any, Any]:
        """Write what is due of each row and return all rows of the table by key.

        `parents` finds the row that a new one hangs on (its code is `SeedRow.parent`), `linked` the targets
        of links between tables.
        """
        existing: dict[Any, Any] = {getattr(row, key): row for row in model._default_manager.all()}
        for row in rows:
            encoded = {name: _encode(value) for name, value in {**row.values, **row.many}.items()}
            instance = existing.get(row.key)
            due = self._due(kind, row, encoded, is_new=instance is None)
            if not due:
                continue
            if instance is None:
                above = {name: by_code[row.parent] for name, by_code in (parents or {}).items()}
                instance = existing[row.key] = model(**{key: row.key}, **above)
            for name in due & row.values.keys():
                setattr(instance, name, row.values[name])
            # Uniqueness and ranges are the database's: asking it for each row would be hundreds of queries.
            instance.clean_fields()
            instance.clean()
            instance.save()
            for name in due & row.many.keys():
                getattr(instance, name).set([(linked or {})[name][code] for code in row.many[name]])
        return existing

    def finish(self) -> None:
        """Remember what the files say now, and report what they no longer name.

        Such rows stay, since orders may stand on them; staff withdraw them.
        """
        SeededRow.objects.bulk_create(
            self._met.values(),
            update_conflicts=True,
            unique_fields=("kind", "code"),
            update_fields=("values",),
        )
        for kind, code in sorted(self._before.keys() - self._met.keys()):
            self.changes.append(SeedChange(kind, code, NOT_IN_FILES))

    def _due(self, kind: str, row: SeedRow, encoded: dict[str, object], *, is_new: bool) -> set[str]:
        """Names of the fields to write; notes the change and what is seeded now."""
        seeded = self._before.get((kind, row.code))
        self._met[kind, row.code] = SeededRow(kind=kind, code=row.code, values=encoded)
        if is_new:
            self.changes.append(SeedChange(kind, row.code, CREATED))
            return set(encoded)
        known = seeded.values if seeded else {}
        due = {name for name, value in encoded.items() if name not in known or known[name] != value}
        if due:
            self.changes.append(SeedChange(kind, row.code, CHANGED, tuple(sorted(due))))
        return due


def _sellable(rows: Iterable[SeedRow]) -> Iterable[SeedRow]:
    """A size that the machines cannot be sold in is loaded and not put on sale."""
    known = sizes.node_sizes()
    for row in rows:
        refused = sizes.refusal(accelerator=row.parent, cards=row.values["cards"], sizes=known)
        yield replace(row, values={**row.values, "on_sale": False}) if refused else row


def _encode(value: object) -> object:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, tuple):
        return list(value)
    return value
