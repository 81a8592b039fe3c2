from enum import StrEnum


class TableRowEnum(StrEnum):
    FULL_FP16 = "full_fp16"
    LORA_FP16 = "lora_fp16"
    QLORA_FP4 = "qlora_fp4"
    QLORA_FP8 = "qlora_fp8"

    def __str__(self) -> str:
        return str(self.value)
