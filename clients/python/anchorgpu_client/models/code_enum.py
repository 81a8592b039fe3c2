from enum import StrEnum


class CodeEnum(StrEnum):
    BF16_STATE = "bf16_state"
    CACHE_FP8 = "cache_fp8"
    CHECKPOINT = "checkpoint"
    FLASH = "flash"
    FUSED_LOSS = "fused_loss"
    FUSED_STEP = "fused_step"
    LORA = "lora"
    MICRO_BATCH = "micro_batch"
    ONE_CONVERSATION = "one_conversation"
    OPTIMIZER_8BIT = "optimizer_8bit"
    OPTIMIZER_IN_BACKWARD = "optimizer_in_backward"
    PACKING = "packing"
    PAGED_CACHE = "paged_cache"
    QLORA = "qlora"
    WEIGHTS_4BIT = "weights_4bit"

    def __str__(self) -> str:
        return str(self.value)
