from enum import StrEnum


class ShardingEnum(StrEnum):
    DDP = "ddp"
    FSDP = "fsdp"
    NONE = "none"
    TP = "tp"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"

    def __str__(self) -> str:
        return str(self.value)
