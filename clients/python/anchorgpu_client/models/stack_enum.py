from enum import StrEnum


class StackEnum(StrEnum):
    CUDA = "CUDA"
    ROCM = "ROCm"

    def __str__(self) -> str:
        return str(self.value)
