"""Bring the catalogue up to a file of the operator's: look first, then write exactly what was shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, models, transaction
from django.utils.translation import gettext_lazy as _

from catalog.figures import ACCELERATOR, OPTION, TERM, draft_figures, live_figures
from catalog.import_file import FileRefused, read_document
from catalog.import_plan import ImportPlan, InUse, Planner
from catalog.import_rows import IMAGE, LOT, RowReader
from catalog.locks import open_draft_for_update
from catalog.models import Accelerator, Image, Lot, Option, PriceDraft, Term
from catalog.selectors.draft import open_draft
from catalog.services.draft import Change, save_draft
from core import audit
from core.errors import Conflict

_TABLES: dict[str, tuple[type[models.Model], str]] = {
    TERM: (Term, "days"),
    ACCELERATOR: (Accelerator, "slug"),
    LOT: (Lot, "code"),
    OPTION: (Option, "code"),
    IMAGE: (Image, "code"),
}
# Asked in the moment of the comparison, since orders come and go.
WhatIsInUse = Callable[[], InUse]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file would change, and the digest that confirms exactly this."""

    plan: ImportPlan
    digest: str


def preview_import(*, content: bytes, in_use: WhatIsInUse) -> Preview:
    """Compare a file with the catalogue; writes nothing. Raises FileRefused with every error of a stage."""
    return _preview(content, in_use, open_draft())


def apply_import(
    *, content: bytes, digest: str, actor: str, in_use: WhatIsInUse, name: str = ""
) -> ImportPlan:
    """Write what a preview has shown: rows at once, prices into the draft.

    Locks the draft and the right to publish. Raises FileRefused, Conflict(catalogue_moved) where the file or
    what it would change is not what `digest` names; so does a second call, after which nothing would change.
    Nothing is deleted.
    """
    try:
        with transaction.atomic():
            found = _preview(content, in_use, open_draft_for_update())
            if found.digest != digest:
                raise _moved()
            _write(found.plan, actor)
            audit.record(
                actor=actor,
                action="catalogue.import",
                subject=f"file:{digest[:16]}",
                reason=name,
                before={f"{diff.kind}:{diff.code}": _plain(diff.old) for diff in found.plan.diffs},
                after={f"{diff.kind}:{diff.code}": _plain(diff.new) for diff in found.plan.diffs},
            )
    except IntegrityError as error:
        # Somebody added the same row by hand between our look and our write.
        raise _moved() from error
    return found.plan


def _moved() -> Conflict:
    return Conflict(
        code="catalogue_moved",
        message=_(
            "The file or the catalogue has changed since this was shown. Nothing was written. Look again."
        ),
    )


def _preview(content: bytes, in_use: WhatIsInUse, draft: PriceDraft | None) -> Preview:
    reader = RowReader()
    rows = reader.read(read_document(content))
    if reader.errors:
        raise FileRefused(reader.errors)
    planner = Planner(in_use=in_use(), figures={**live_figures(), **draft_figures(draft)})
    plan = planner.plan(rows)
    if planner.errors:
        raise FileRefused(planner.errors)
    return Preview(plan, plan.digest(content))


def _write(plan: ImportPlan, actor: str) -> None:
    """Terms and accelerators come first in a plan, then lots, then what names them."""
    for diff in plan.diffs:
        model, key = _TABLES[diff.kind]
        values = {name: value for name, value in diff.new.items() if name != "lots"}
        found = model._default_manager.filter(**{key: diff.code})
        if diff.added:
            if diff.kind == LOT:
                values["accelerator"] = Accelerator.objects.get(slug=diff.parent)
            model._default_manager.create(**{key: diff.code}, **values)
        elif values:
            found.update(**values)
        if "lots" in diff.new:
            Option.objects.get(code=diff.code).lots.set(Lot.objects.filter(code__in=diff.new["lots"]))
    if plan.figures:
        changes = {(f.kind, f.code): Change(was=f.old, now=f.new) for f in plan.figures}
        save_draft(changes=changes, actor=actor)


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as JSON holds them: Decimal as text."""
    return {name: str(value) if isinstance(value, Decimal) else value for name, value in values.items()}
