from enum import StrEnum


class OptimizerEnum(StrEnum):
    ADAFACTOR = "adafactor"
    ADAMW = "adamw"
    ADAMW8BIT = "adamw8bit"
    ADAMW8BIT_INBWD = "adamw8bit_inbwd"
    ADAMW8BIT_PAGED = "adamw8bit_paged"
    ADAMW8BIT_PAGED_INBWD = "adamw8bit_paged_inbwd"
    ADAMW_DS = "adamw_ds"
    ADAMW_FUSED = "adamw_fused"
    ADAMW_INBWD = "adamw_inbwd"
    ADAMW_PAGED = "adamw_paged"
    ADAMW_PAGED_INBWD = "adamw_paged_inbwd"
    SGD = "sgd"
    SGD_MOMENTUM = "sgd_momentum"

    def __str__(self) -> str:
        return str(self.value)
