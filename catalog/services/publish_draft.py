"""Publish the draft as it was previewed, or say why not."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from catalog.figures import ACCELERATOR, OPTION, TERM, Figures, draft_figures, live_figures, stored_figures
from catalog.locks import draft_for_update
from catalog.models import Accelerator, Option, PriceVersion, Term
from catalog.selectors import current_price_version
from catalog.services.draft import require_open
from catalog.services.publish import Published, publish_prices
from core import audit
from core.clock import now
from core.errors import Conflict, Refusal


@transaction.atomic
def publish_draft(*, draft_id: int, revision: int, actor: str, reason: str) -> Published:
    """Make the draft the table that sells from now on; open quotes keep theirs.

    `revision` is that of the preview. Locks the draft and the right to publish. Raises NotFound,
    Conflict(already_done, draft_changed, draft_outdated), Refusal(nothing_changed, nothing_to_publish,
    price_too_small). A second call hears already_done.
    """
    draft = require_open(draft_for_update(draft_id))
    if draft.revision != revision:
        raise Conflict(
            code="draft_changed",
            message=_("%(name)s has changed the draft since this preview. Look at it again."),
            params={"name": draft.saved_by},
        )
    current = current_price_version()
    if draft.base != current:
        raise Conflict(
            code="draft_outdated",
            message=_("Another price table was published since this draft was made. Take it up first."),
        )
    figures = draft_figures(draft)
    live = live_figures()
    before = {key: live.get(key) for key in figures}
    _write(figures)
    # The note of a table is shown to staff on one line; the whole reason stays in the audit.
    published = publish_prices(note=reason[:300], published_by=actor)
    if not published.created:
        raise Refusal(
            code="nothing_changed", message=_("This draft changes no price. There is nothing to publish.")
        )
    draft.closed_at = now()
    draft.published = PriceVersion.objects.get(number=published.number)
    draft.save(update_fields=["closed_at", "published"])
    audit.record(
        actor=actor,
        action="prices.publish",
        subject=f"price_version:{published.number}",
        reason=reason,
        before={"number": current.number if current else None, **stored_figures(before)},
        after={"number": published.number, **stored_figures(figures)},
    )
    return published


def _write(figures: Figures) -> None:
    """The figures become live. One statement for each: a draft changes few."""
    for (kind, code), value in figures.items():
        if kind == ACCELERATOR:
            Accelerator.objects.filter(slug=code).update(card_hour_amount=value)
        elif kind == OPTION:
            Option.objects.filter(code=code).update(unit_amount=value)
        elif kind == TERM:
            Term.objects.filter(days=int(code)).update(discount=value)
