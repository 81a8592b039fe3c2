from enum import StrEnum


class MethodEnum(StrEnum):
    FULL = "full"
    INFER = "infer"
    LORA = "lora"
    LORA_EMB = "lora_emb"
    QLORA = "qlora"

    def __str__(self) -> str:
        return str(self.value)
