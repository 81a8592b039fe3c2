from enum import StrEnum


class FlagsEnum(StrEnum):
    BY_HAND = "by_hand"
    DISAGREE = "disagree"
    DROPPED = "dropped"
    LATE = "late"
    OVER = "over"
    PARTIAL = "partial"
    SCREENING = "screening"
    SWEPT = "swept"
    WRONG_ASSET = "wrong_asset"
    WRONG_NETWORK = "wrong_network"

    def __str__(self) -> str:
        return str(self.value)
