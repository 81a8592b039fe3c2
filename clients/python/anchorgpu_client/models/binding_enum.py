from enum import StrEnum


class BindingEnum(StrEnum):
    DECODE = "decode"
    END = "end"
    START = "start"
    STEP = "step"

    def __str__(self) -> str:
        return str(self.value)
