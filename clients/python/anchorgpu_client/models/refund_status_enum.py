from enum import StrEnum


class RefundStatusEnum(StrEnum):
    ADDRESS_NEEDED = "address_needed"
    DUE = "due"
    FAILED = "failed"
    SENT = "sent"
    VERIFIED = "verified"

    def __str__(self) -> str:
        return str(self.value)
