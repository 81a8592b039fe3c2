from enum import StrEnum


class ParamDtypeEnum(StrEnum):
    BF16 = "bf16"
    FP32 = "fp32"

    def __str__(self) -> str:
        return str(self.value)
