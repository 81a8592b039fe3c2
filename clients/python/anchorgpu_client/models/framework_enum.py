from enum import StrEnum


class FrameworkEnum(StrEnum):
    DEEPSPEED = "deepspeed"
    HF_TRAINER = "hf_trainer"
    OTHER = "other"

    def __str__(self) -> str:
        return str(self.value)
