"""Due work of refunds on chain: hashes to look up, staff to ask again. Worker only: it imports the chain's client."""

from collections.abc import Callable, Iterator
from functools import partial

from billing.services.refund_questions import ask_again
from billing.services.verify_refund import due_ids, verify_refund
from core.sweeps import each

# Below the worker's soft limit for a task (90 s), with the calls of one refund to spare.
SWEEP_SECONDS = 45.0


def sweep_refunds() -> None:
    """One round; each refund has its own claim."""
    each(_due(), lambda act: act(), seconds=SWEEP_SECONDS)


def _due() -> Iterator[Callable[[], object]]:
    yield ask_again
    for refund_id in due_ids():
        yield partial(verify_refund, refund_id)
