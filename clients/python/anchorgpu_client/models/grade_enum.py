from enum import StrEnum


class GradeEnum(StrEnum):
    C = "C"
    S = "S"
    V = "V"

    def __str__(self) -> str:
        return str(self.value)
