from enum import StrEnum


class LossKernelEnum(StrEnum):
    CHUNKED = "chunked"
    COMPILED = "compiled"
    COMPILED_CHUNKED = "compiled_chunked"
    FAST_CE = "fast_ce"
    FUSED_CE = "fused_ce"
    HF = "hf"

    def __str__(self) -> str:
        return str(self.value)
