from enum import StrEnum


class ShapeEnum(StrEnum):
    DDP = "ddp"
    FSDP = "fsdp"
    INDEPENDENT = "independent"
    NONE = "none"
    SINGLE = "single"
    SPLIT = "split"
    TP = "tp"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"

    def __str__(self) -> str:
        return str(self.value)
