"""What the current price table sells; the queries that the other selectors stand on."""

import re
from collections.abc import Iterable

from django.db.models import QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from catalog import sizes
from catalog.models import LotPrice, OptionPrice, PriceVersion, Term
from catalog.validators import CODE_MAX_LENGTH, CODE_PATTERN
from core.errors import Invalid


def current_price_version() -> PriceVersion | None:
    """The price table that sells now; None before the first publication. 1 query."""
    return PriceVersion.objects.order_by("-number").first()


def terms() -> tuple[Term, ...]:
    """The terms on offer, short first. 1 query."""
    return tuple(Term.objects.order_by("days"))


def terms_of(prices: Iterable[LotPrice]) -> tuple[Term, ...]:
    """The terms that prices stand for, short first. No query."""
    return tuple(sorted({price.term_id: price.term for price in prices}.values(), key=lambda term: term.days))


def current_number() -> Subquery:
    """Number of the current table, read inside the query that uses it, so that both see one table."""
    return Subquery(PriceVersion.objects.order_by("-number").values("number")[:1])


def current_lot_prices() -> QuerySet[LotPrice]:
    """Prices of the lots on sale."""
    prices = LotPrice.objects.filter(version__number=current_number(), lot__on_sale=True)
    return prices.exclude(sizes.of_other_sizes()).select_related("lot__accelerator", "term", "version")


def current_option_prices() -> QuerySet[OptionPrice]:
    """Prices of the options on sale."""
    prices = OptionPrice.objects.filter(version__number=current_number(), option__on_sale=True)
    return prices.select_related("option", "term", "version")


def is_code(text: str) -> bool:
    """Whether a text could name anything here. Keeps NUL and megabytes away from the database."""
    return len(text) <= CODE_MAX_LENGTH and re.fullmatch(CODE_PATTERN, text) is not None


def require_code(text: str, *, field: str) -> str:
    """The text, or Invalid(invalid_text) naming the field."""
    if not is_code(text):
        raise Invalid(
            code="invalid_text",
            message=_("This must be a code of lower-case letters, digits and hyphens."),
            field=field,
        )
    return text
