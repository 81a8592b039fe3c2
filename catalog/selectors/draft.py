"""Reads of price drafts and of the tables that were published."""

from catalog.models import PriceDraft, PriceVersion


def open_draft() -> PriceDraft | None:
    """The draft that is being written, if there is one. 1 query."""
    return PriceDraft.objects.select_related("base").filter(closed_at=None).first()


def price_versions(*, limit: int) -> tuple[PriceVersion, ...]:
    """The newest tables first. 1 query."""
    return tuple(PriceVersion.objects.order_by("-number")[:limit])
