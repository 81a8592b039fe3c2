from enum import StrEnum


class OrderLeaseStatusEnum(StrEnum):
    CLOSED = "closed"
    DEGRADED = "degraded"
    ENDING = "ending"
    FAILED = "failed"
    PREPARING = "preparing"
    READY = "ready"
    RESERVED = "reserved"
    SUSPENDED = "suspended"
    TESTING = "testing"
    WIPING = "wiping"

    def __str__(self) -> str:
        return str(self.value)
