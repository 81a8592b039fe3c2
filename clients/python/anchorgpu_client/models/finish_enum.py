from enum import StrEnum


class FinishEnum(StrEnum):
    LIKELY = "likely"
    NO = "no"
    UNKNOWN = "unknown"
    YES = "yes"

    def __str__(self) -> str:
        return str(self.value)
