from enum import StrEnum


class VerdictEnum(StrEnum):
    COMFORTABLE = "comfortable"
    NO = "no"
    PILOT = "pilot"
    TIGHT = "tight"

    def __str__(self) -> str:
        return str(self.value)
