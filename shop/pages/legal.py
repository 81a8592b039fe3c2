"""The numbers that the legal pages state: read from the settings and the rules that keep them, never typed twice."""

from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

from billing.early_end_amount import SHARE
from orders.services import find

MINUTE, HOUR = 60, 3600


@dataclass(frozen=True)
class LegalNumbers:
    """Policy as the terms and the privacy page say it, in whole units."""

    quote_minutes: int
    hold_minutes: int
    ready_by_hours: int
    late_grace_hours: int
    late_offer_minutes: int
    reversed_hours: int
    extend_lead_minutes: int
    unused_days_share: Decimal
    search_minutes: int


def legal_numbers() -> LegalNumbers:
    return LegalNumbers(
        quote_minutes=settings.QUOTE_VALID_SECONDS // MINUTE,
        hold_minutes=settings.HOLD_SECONDS // MINUTE,
        ready_by_hours=settings.READY_BY_SECONDS // HOUR,
        late_grace_hours=settings.LATE_GRACE_SECONDS // HOUR,
        late_offer_minutes=settings.LATE_OFFER_SECONDS // MINUTE,
        reversed_hours=settings.REVERSED_GRACE_SECONDS // HOUR,
        extend_lead_minutes=settings.EXTEND_LEAD_SECONDS // MINUTE,
        unused_days_share=Decimal(SHARE.numerator) / SHARE.denominator,
        search_minutes=int(find.WINDOW.total_seconds()) // MINUTE,
    )
