"""Money after a restore: no address is given out a second time, and what may have been sent back is looked at first."""

from billing import gap
from billing.lifecycle import RefundStatus
from billing.models import Rail, Refund

# The look at the card processor (search_cards).
CARDS_STEP = "bank_cards"


def begin() -> dict[str, int]:
    """Empty the pool; what staff should know. In the restore's transaction. The worker does the rest (search_gap)."""
    due = Refund.objects.filter(status=RefundStatus.DUE, rail=Rail.CRYPTO)
    return {"addresses_left_out": gap.begin(), "refunds_perhaps_sent": due.count()}
