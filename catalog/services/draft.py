"""Write the next price table without touching the one that sells: save, take up a newer table, throw away."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from catalog.figures import Figure, Figures, Key, draft_figures, live_figures, stored_figures
from catalog.locks import draft_for_update, open_draft_for_update
from catalog.models import PriceDraft
from catalog.selectors import current_price_version
from core import audit
from core.clock import now
from core.errors import Conflict, NotFound


@dataclass(frozen=True, slots=True)
class Change:
    """`was` is what its author saw when it was made."""

    was: Figure
    now: Figure


class FiguresMoved(Conflict):
    """Somebody else has saved other values meanwhile; `stored` holds them by figure. Nothing was saved."""

    def __init__(self, *, stored: Figures, by: str) -> None:
        known = _("%(name)s has saved other figures meanwhile. Nothing of yours was saved yet.")
        unknown = _("Other figures were saved meanwhile. Nothing of yours was saved yet.")
        super().__init__(code="figures_moved", message=known if by else unknown, params={"name": by})
        self.stored = stored


@transaction.atomic
def save_draft(*, changes: Mapping[Key, Change], actor: str) -> PriceDraft:
    """Put changes into the open draft, or open one.

    Only what the author changed is written, so that two who save at once keep each other's figures; a figure
    that both changed is refused for the second (FiguresMoved). Values come from `figures.read_figure`. Locks
    the draft. Raises NotFound(unknown_figure). May be repeated.
    """
    draft = open_draft_for_update()
    live = live_figures()
    before = draft_figures(draft)
    if unknown := sorted(changes.keys() - live.keys()):
        raise NotFound(
            code="unknown_figure", message=_("There is no figure %(name)s."), params={"name": unknown[0][1]}
        )
    stored = {key: before.get(key, live[key]) for key in changes}
    moved = {
        key: stored[key] for key, change in changes.items() if stored[key] not in (change.was, change.now)
    }
    if moved:
        raise FiguresMoved(stored=moved, by=_last_author(draft))
    after = _differing({**before, **{key: change.now for key, change in changes.items()}}, live)
    if draft is None:
        draft = _opened(actor)
    elif stored_figures(after) == draft.figures:
        return draft
    _write(draft, after, actor)
    audit.record(
        actor=actor,
        action="prices.draft",
        subject=f"price_draft:{draft.pk}",
        before=stored_figures({key: value for key, value in stored.items() if changes[key].now != value}),
        after=stored_figures(
            {key: change.now for key, change in changes.items() if change.now != stored[key]}
        ),
    )
    return draft


@transaction.atomic
def rebase_draft(*, draft_id: int, actor: str) -> PriceDraft:
    """Go on from the table that sells now. Changes of the draft stay; the other figures are the newer table's.

    Locks the draft. Raises NotFound, Conflict(already_done) for a closed one. May be repeated.
    """
    draft = require_open(draft_for_update(draft_id))
    current = current_price_version()
    if draft.base != current:
        before, draft.base = draft.base, current
        _write(draft, _differing(draft_figures(draft), live_figures()), actor)
        audit.record(
            actor=actor,
            action="prices.rebase",
            subject=f"price_draft:{draft.pk}",
            before={"base": before.number if before else None},
            after={"base": current.number if current else None},
        )
    return draft


@transaction.atomic
def discard_draft(*, draft_id: int, actor: str, reason: str) -> None:
    """Close a draft; the table that sells stands. Locks it. Raises NotFound, Conflict(already_done)."""
    draft = require_open(draft_for_update(draft_id))
    draft.closed_at = now()
    draft.save(update_fields=["closed_at"])
    audit.record(
        actor=actor,
        action="prices.discard",
        subject=f"price_draft:{draft.pk}",
        reason=reason,
        before=draft.figures,
    )


def require_open(draft: PriceDraft | None) -> PriceDraft:
    """The draft, if it can still be worked on. Raises NotFound, Conflict(already_done)."""
    if draft is None:
        raise NotFound(code="unknown_draft", message=_("There is no such draft."))
    if draft.published is not None:
        raise Conflict(
            code="already_done",
            message=_("This was already done: the draft is price table %(number)s."),
            params={"number": draft.published.number},
        )
    if draft.closed_at is not None:
        raise Conflict(code="already_done", message=_("This draft was discarded already."))
    return draft


def _opened(actor: str) -> PriceDraft:
    moment = now()
    return PriceDraft.objects.create(
        base=current_price_version(),
        revision=0,
        opened_at=moment,
        opened_by=actor,
        saved_at=moment,
        saved_by=actor,
    )


def _last_author(draft: PriceDraft | None) -> str:
    """Who has saved last, in this draft or by publishing the one before; empty for a program."""
    if draft is not None:
        return draft.saved_by
    current = current_price_version()
    return current.published_by if current else ""


def _differing(figures: Figures, live: Figures) -> dict[Key, Figure]:
    return {key: value for key, value in figures.items() if live.get(key) != value}


def _write(draft: PriceDraft, figures: Figures, actor: str) -> None:
    draft.figures = stored_figures(figures)
    draft.revision += 1
    draft.saved_at, draft.saved_by = now(), actor
    draft.save(update_fields=["base", "figures", "revision", "saved_at", "saved_by"])
