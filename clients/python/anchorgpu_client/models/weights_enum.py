from enum import StrEnum


class WeightsEnum(StrEnum):
    BF16 = "bf16"
    FP16 = "fp16"
    FP32 = "fp32"
    FP8 = "fp8"
    GPTQ4 = "gptq4"
    INT8 = "int8"
    NF4 = "nf4"
    NF4DQ = "nf4dq"

    def __str__(self) -> str:
        return str(self.value)
