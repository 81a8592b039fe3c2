from enum import StrEnum


class QuoteStatusEnum(StrEnum):
    ACCEPTED = "accepted"
    EXPIRED = "expired"
    OPEN = "open"

    def __str__(self) -> str:
        return str(self.value)
