"""The page of decisions: counts in one query, one page of rows with what each is about, a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Min
from django.utils.translation import gettext as _

from core import clock
from core.admin_actions import ServiceAction
from core.decision_actions import decision_actions
from core.models import Decision
from desk.about import About, about_all
from desk.decision_words import words_of
from desk.links import Person, Tag, tags_of

ROWS = 50
# What is deadline enough to be drawn as urgent, whatever the kind.
_OVERDUE = "bad"


@dataclass(frozen=True)
class Row:
    """A decision as the page shows it."""

    about: About
    tone: str
    icon: str
    badge: str
    heading: str
    text: str
    tags: list[Tag]
    actions: list[ServiceAction]

    @property
    def decision(self) -> Decision:
        return self.about.decision


@dataclass(frozen=True)
class Waiting:
    """How many of one kind are open, and the nearest deadline among them."""

    count: int
    due_at: datetime | None


@dataclass(frozen=True)
class Queue:
    """One page of what waits. `page` counts from 1 and never lies beyond the last."""

    as_of: datetime
    kinds: dict[str, Waiting]
    rows: list[Row]
    page: int
    pages: int

    @property
    def count(self) -> int:
        return sum(found.count for found in self.kinds.values())

    @property
    def previous(self) -> int | None:
        return self.page - 1 if self.page > 1 else None

    @property
    def following(self) -> int | None:
        return self.page + 1 if self.page < self.pages else None


def queue_of(person: Person, *, page: int) -> Queue:
    """What is open, nearest deadline first, then the oldest."""
    kinds = _kinds()
    count = sum(found.count for found in kinds.values())
    pages = max(1, -(-count // ROWS))
    page = min(max(page, 1), pages)
    start = (page - 1) * ROWS
    open_now = Decision.objects.filter(closed_at=None)
    ordered = open_now.order_by(F("due_at").asc(nulls_last=True), "opened_at", "id")
    abouts = about_all(list(ordered[start : start + ROWS]))
    return Queue(
        as_of=clock.now(),
        kinds=kinds,
        rows=[row_of(about, person) for about in abouts],
        page=page,
        pages=pages,
    )


def row_of(about: About, person: Person) -> Row:
    """One decision in words, with the buttons that this person may press."""
    words = words_of(about.decision.kind)
    is_over = about.left is not None and not about.left_text
    return Row(
        about=about,
        tone=_OVERDUE if is_over else words.tone,
        icon=words.icon,
        badge=_badge(str(words.badge), about, is_over=is_over),
        heading=words.heading(about),
        text=words.text(about),
        tags=tags_of(about, person),
        actions=_allowed(decision_actions(about.decision), about, person),
    )


def _badge(word: str, about: About, *, is_over: bool) -> str:
    if about.left_text:
        return _("%(badge)s, %(left)s left") % {"badge": word, "left": about.left_text}
    return _("%(badge)s, time is up") % {"badge": word} if is_over else word


def _allowed(actions: Sequence[ServiceAction], about: About, person: Person) -> list[ServiceAction]:
    may = getattr(person, "has_perm", None)
    return [
        action
        for action in actions
        if action.offered(about.decision) and may is not None and may(action.permission)
    ]


def _kinds() -> dict[str, Waiting]:
    rows = (
        Decision.objects.filter(closed_at=None)
        .order_by()
        .values_list("kind")
        .annotate(count=Count("pk"), due=Min("due_at"))
    )
    return {kind: Waiting(count, due) for kind, count, due in rows}
