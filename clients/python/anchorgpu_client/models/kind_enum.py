from enum import StrEnum


class KindEnum(StrEnum):
    BUSINESS = "business"
    CONSUMER = "consumer"

    def __str__(self) -> str:
        return str(self.value)
