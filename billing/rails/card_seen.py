"""What a card processor said, and what can go wrong with asking it. Free of the processor's library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from billing.rails.errors import one_line


class CardRailError(Exception):
    """No usable answer. `is_final`: the processor understood and said no, asking again changes nothing."""

    def __init__(self, reason: str, *, code: str = "", is_final: bool = False) -> None:
        self.reason = one_line(reason)
        self.code = code
        self.is_final = is_final
        super().__init__(self.reason)


@dataclass(frozen=True, kw_only=True)
class SessionOrder:
    """A checkout session to be opened. `key` makes it once, however often it is sent."""

    key: str
    reference: str
    email: str
    language: str
    name: str
    amount_minor: int
    currency: str
    expires_at: datetime
    return_url: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class SessionSeen:
    """A session as the processor has it now. `currency` in capitals. `payment_status` is the processor's (paid, unpaid,
    no_payment_required), or failed: the buyer was done, and the delayed payment did not come."""

    session_id: str
    url: str
    status: str
    payment_status: str
    amount_minor: int
    currency: str
    reference: str
    payment_intent: str
    livemode: bool
    metadata: Mapping[str, str]

    @property
    def is_paid(self) -> bool:
        return self.payment_status == "paid"

    @property
    def is_pending(self) -> bool:
        """The buyer is done and the money is on its way: a delayed method."""
        return self.status == "complete" and self.payment_status == "unpaid"


@dataclass(frozen=True, kw_only=True)
class RefundSeen:
    """A refund as the processor has it now: pending, requires_action, succeeded, failed, canceled."""

    refund_id: str
    payment_intent: str
    status: str
    amount_minor: int
    currency: str
    metadata: Mapping[str, str]
    reason: str = ""

    @property
    def is_dead(self) -> bool:
        return self.status in ("failed", "canceled")


@dataclass(frozen=True, kw_only=True)
class DisputeSeen:
    """A dispute as the processor has it now."""

    dispute_id: str
    payment_intent: str
    status: str
    amount_minor: int
    currency: str
    livemode: bool
