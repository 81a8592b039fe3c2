"""The guides that there are: who wrote each, when it was updated, how long it takes to read."""

from dataclasses import dataclass
from datetime import date

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Guide:
    """One guide; its text is templates/guides/<slug>.html."""

    slug: str
    title: str | Promise
    summary: str | Promise
    author: str
    updated: date
    reading_minutes: int


GUIDES = (
    Guide(
        slug="paying-in-crypto",
        title=_("Paying in crypto without losing money"),
        summary=_(
            "Which four things to compare before a transfer, what “final” means, and what to do when "
            "something differs."
        ),
        author="AnchorGPU",
        updated=date(2026, 11, 30),
        reading_minutes=5,
    ),
)


def guide_by_slug(slug: str) -> Guide | None:
    """A guide, or None."""
    return next((guide for guide in GUIDES if guide.slug == slug), None)
