"""When a delivery that failed is tried again. Written out, so that docs and tests read the same list."""

from datetime import timedelta

_S, _M, _H = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)

# The pause after the first failure, the second, ...; 15 attempts over three days and two minutes and a half.
PAUSES = (
    5 * _S,
    30 * _S,
    2 * _M,
    15 * _M,
    45 * _M,
    1 * _H,
    2 * _H,
    4 * _H,
    8 * _H,
    8 * _H,
    12 * _H,
    12 * _H,
    12 * _H,
    12 * _H,
)
MAX_ATTEMPTS = len(PAUSES) + 1


def pause_after(attempts: int) -> timedelta | None:
    """How long to wait after so many failed attempts; None: it is given up."""
    return PAUSES[attempts - 1] if attempts <= len(PAUSES) else None
