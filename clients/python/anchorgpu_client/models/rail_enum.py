from enum import StrEnum


class RailEnum(StrEnum):
    CRYPTO = "crypto"

    def __str__(self) -> str:
        return str(self.value)
