from enum import StrEnum


class PaymentStatusEnum(StrEnum):
    AWAITING = "awaiting"
    EXPIRED = "expired"
    REVERSED = "reversed"
    SEEN = "seen"
    SETTLED = "settled"

    def __str__(self) -> str:
        return str(self.value)
