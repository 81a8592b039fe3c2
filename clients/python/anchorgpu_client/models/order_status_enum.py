from enum import StrEnum


class OrderStatusEnum(StrEnum):
    ACTIVE = "active"
    AWAITING_PAYMENT = "awaiting_payment"
    CANCELLED = "cancelled"
    ENDED = "ended"
    EXPIRED = "expired"
    FAILED = "failed"
    PAID = "paid"
    PROVISIONING = "provisioning"

    def __str__(self) -> str:
        return str(self.value)
