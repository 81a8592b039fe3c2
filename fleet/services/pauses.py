"""How long to wait before a failed step is tried again."""

# A provider that is down for an hour is asked 60 times, not 1,800; the first retry comes at once.
LONGEST_PAUSE_SECONDS = 60


def pause_seconds(attempts: int) -> int:
    """2, 4, 8 ... 60 seconds after the first, second, third failure."""
    return min(LONGEST_PAUSE_SECONDS, int(2 ** min(attempts, 10)))
