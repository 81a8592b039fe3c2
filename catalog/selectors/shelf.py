"""All that is on sale, kept in the memory of a process: who asks for a price is told without reading it anew."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from catalog.models import Accelerator, Image, Lot
from catalog.offers import LotOffer
from catalog.selectors.choice import ImageVerdict, OptionSheet, lot_offer_of, not_offered, whole_sheet
from catalog.selectors.current import current_lot_prices, require_code, terms
from catalog.selectors.stamp import catalogue_stamp
from catalog.stack import require_runs
from core.errors import Refusal


@dataclass(frozen=True, slots=True)
class Shelf:
    """What the current price table sells. Its rows are shared by all who ask: nobody may change one."""

    lots: Mapping[str, Lot]
    offers: Mapping[tuple[str, int], LotOffer]
    days: tuple[int, ...]
    images: Mapping[str, Image]
    options: OptionSheet

    def lot_offer(self, *, lot: str, days: int) -> LotOffer:
        """One lot for one term. Raises what `catalog.selectors.lot_offer` raises."""
        offer = self.offers.get((require_code(lot, field="lot"), days))
        if offer is not None:
            return offer
        raise not_offered(days=days, offered=self.days)

    def image_for(
        self, *, code: str, accelerator: Accelerator, node_driver: str | None = None
    ) -> ImageVerdict:
        """An environment that runs on the card.

        Raises Invalid(invalid_text), Refusal(not_on_sale) for an unknown or withdrawn one,
        Refusal(image_incompatible) with every reason.
        """
        image = self.images.get(require_code(code, field="image"))
        if image is None:
            raise Refusal(code="not_on_sale", message=_("This environment is not on offer."), field="image")
        return ImageVerdict(image, require_runs(image, accelerator, node_driver))


_kept: tuple[str, Shelf] | None = None


def current_shelf() -> Shelf:
    """What is on sale in this moment. 1 query, 6 where the catalogue has changed since the last call."""
    global _kept  # noqa: PLW0603  # one process, one catalogue
    stamp, kept = catalogue_stamp(), _kept
    if kept is not None and kept[0] == stamp:
        return kept[1]
    found = _read()
    # A change while it was read may be in some of its parts only, and be taken back later: it serves this call alone.
    if catalogue_stamp() == stamp:
        _kept = (stamp, found)
    return found


def _read() -> Shelf:
    """4 queries."""
    prices = list(current_lot_prices())
    offers = [lot_offer_of(price) for price in prices]
    return Shelf(
        lots={price.lot.code: price.lot for price in prices},
        offers={(offer.lot_code, offer.days): offer for offer in offers},
        days=tuple(term.days for term in terms()),
        images={image.code: image for image in Image.objects.filter(on_sale=True)},
        options=whole_sheet(price_version=offers[0].price_version if offers else 0),
    )
