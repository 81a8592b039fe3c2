"""What an import would change, in words: the same on the desk and on the command line."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from catalog.figures import ACCELERATOR, OPTION, TERM, figure_text
from catalog.import_plan import Diff, ImportPlan
from catalog.import_rows import IMAGE, LOT


@dataclass(frozen=True, slots=True)
class RowWords:
    """One row of the file that adds or changes something. `fields` are (name, old, new)."""

    kind: str
    code: str
    added: bool
    fields: tuple[tuple[str, str, str], ...]


def kind_word(kind: str) -> str:
    return {
        ACCELERATOR: _("accelerator"),
        LOT: _("lot"),
        TERM: _("term"),
        OPTION: _("option"),
        IMAGE: _("environment"),
    }[kind]


def row_words(plan: ImportPlan) -> list[RowWords]:
    return [RowWords(kind_word(diff.kind), diff.code, diff.added, _fields(diff)) for diff in plan.diffs]


def figure_words(plan: ImportPlan) -> list[tuple[str, str, str, str]]:
    """(kind, code, old, new) of each price that goes into the draft."""
    return [(kind_word(f.kind), f.code, _price(f.old), _price(f.new)) for f in plan.figures]


def staying_words(plan: ImportPlan) -> list[str]:
    return [f"{kind_word(kind)} {code}" for kind, code in plan.staying]


def _fields(diff: Diff) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (name, "" if diff.added else _value(diff.old[name]), _value(value))
        for name, value in diff.new.items()
    )


def _value(value: object) -> str:
    if value is None:
        return _("unknown")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return _list(value) or _("none")
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Decimal):
        return figure_text(value)
    return str(value) or _("empty")


def _list(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)


def _price(value: Decimal | None) -> str:
    return figure_text(value) or _("not on sale")
