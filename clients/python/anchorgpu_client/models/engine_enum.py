from enum import StrEnum


class EngineEnum(StrEnum):
    GENERATE = "generate"
    VLLM = "vllm"

    def __str__(self) -> str:
        return str(self.value)
