"""Due work of bank cards: events, sessions to open, read and end, refunds, payments whose time is up."""

from collections.abc import Callable, Iterator
from functools import partial

from billing.services.card_event import apply_event, due_events
from billing.services.card_refund import check_card_refund, due_refunds, send_card_refund
from billing.services.expire_card_payments import expire_card_payments
from billing.services.open_card_session import open_card_session, wanted_sessions
from billing.services.read_card_session import due_sessions, read_card_session
from core.sweeps import each

# Below the worker's soft limit for a task (90 s) with a call and its time-out to spare: where the processor is silent
# the rest waits for the next sweep.
SWEEP_SECONDS = 45.0


def sweep_events() -> None:
    """Apply what waits, oldest first."""
    each(due_events(), apply_event, seconds=SWEEP_SECONDS)


def sweep_sessions() -> None:
    """Open what is wanted, read what is due. One after the other; each has its own claim."""
    try:
        each(_sessions(), lambda act: act(), seconds=SWEEP_SECONDS)
    finally:
        expire_card_payments()


def sweep_refunds() -> None:
    """Send what is due, check what is sent."""
    each(
        due_refunds(),
        lambda due: (check_card_refund if due[1] else send_card_refund)(due[0]),
        seconds=SWEEP_SECONDS,
    )


def _sessions() -> Iterator[Callable[[], bool]]:
    """First those that a buyer waits for."""
    for session_id in wanted_sessions():
        yield partial(open_card_session, session_id)
    for session_id, expire in due_sessions():
        yield partial(read_card_session, session_id, expire=expire)
