from enum import StrEnum


class SpeedEnum(StrEnum):
    FASTER = "faster"
    NONE = "none"
    NONE_CHECK_QUALITY = "none_check_quality"
    NO_ACCUMULATION = "no_accumulation"
    OTHER_RESULT = "other_result"
    OTHER_RESULT_SLOWER = "other_result_slower"
    SLOWER_PUBLISHED = "slower_published"
    SLOWER_SMALL_BATCH = "slower_small_batch"

    def __str__(self) -> str:
        return str(self.value)
