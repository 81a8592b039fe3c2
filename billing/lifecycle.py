"""States of payments and refunds (docs/lifecycle.md). A payment's state is computed from facts and may go back."""

from django.db import models

from core.lifecycle import Lifecycle, table


class PaymentStatus(models.TextChoices):
    AWAITING = "awaiting"
    SEEN = "seen"
    SETTLED = "settled"
    EXPIRED = "expired"
    REVERSED = "reversed"


class PaymentFlag(models.TextChoices):
    PARTIAL = "partial"
    OVER = "over"
    LATE = "late"
    WRONG_ASSET = "wrong_asset"
    WRONG_NETWORK = "wrong_network"
    SWEPT = "swept"
    DROPPED = "dropped"
    DISAGREE = "disagree"
    SCREENING = "screening"
    BY_HAND = "by_hand"


class RefundStatus(models.TextChoices):
    ADDRESS_NEEDED = "address_needed"
    DUE = "due"
    SENT = "sent"
    VERIFIED = "verified"
    FAILED = "failed"


PAYMENT = Lifecycle(
    kind="payment",
    allowed=table(
        awaiting=[PaymentStatus.SEEN, PaymentStatus.SETTLED, PaymentStatus.EXPIRED],
        # The block with the transfer was taken back.
        seen=[PaymentStatus.AWAITING, PaymentStatus.SETTLED, PaymentStatus.EXPIRED],
        settled=[PaymentStatus.REVERSED],
        reversed=[PaymentStatus.SETTLED],
        # Money that was on time by block time and found after the expiry.
        expired=[PaymentStatus.SEEN, PaymentStatus.SETTLED],
    ),
    names={("seen", "awaiting"): "payment.dropped"},
)

REFUND = Lifecycle(
    kind="refund",
    allowed=table(
        address_needed=[RefundStatus.DUE],
        due=[RefundStatus.SENT, RefundStatus.FAILED],
        sent=[RefundStatus.VERIFIED, RefundStatus.FAILED],
        # Sent anew after a failure, perhaps to another address.
        failed=[RefundStatus.ADDRESS_NEEDED, RefundStatus.DUE],
        verified=[],
    ),
)
