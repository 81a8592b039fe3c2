from enum import StrEnum


class NotifyEnum(StrEnum):
    BUYER = "buyer"
    PARTNER = "partner"

    def __str__(self) -> str:
        return str(self.value)
