"""Whether what an open quote names is still on offer: a quote keeps its price, not a withdrawn thing."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from catalog.models import Image, Lot, Option
from core.errors import Refusal


def require_still_on_sale(*, lot: Lot, image: Image, option_codes: Sequence[str]) -> None:
    """Raises Refusal(not_on_sale) where lot, environment or an option was withdrawn. At most 1 query: lot and
    image come fresh from the caller's locked read."""
    if not lot.on_sale:
        raise Refusal(code="not_on_sale", message=_("This lot was withdrawn meanwhile."), field="quote")
    if not image.on_sale:
        raise Refusal(
            code="not_on_sale", message=_("This environment was withdrawn meanwhile."), field="quote"
        )
    if option_codes and Option.objects.filter(code__in=option_codes, on_sale=True).count() != len(
        option_codes
    ):
        raise Refusal(code="not_on_sale", message=_("An option was withdrawn meanwhile."), field="quote")
