"""Send what is due: one worker at a time, with many calls under way at once and only a few for each receiver."""

import time
import uuid
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import structlog

from core import claims, clock, outward
from core.errors import Refusal
from core.outward import Answer
from core.outward_target import parse_target
from core.version import VERSION
from partners import locks
from partners.models import WebhookDelivery
from partners.services.record_attempt import record_attempt
from partners.webhook_selectors import due_deliveries
from partners.webhook_signature import signed_headers

log = structlog.get_logger(__name__)

# A call takes 13 seconds at most (core.outward, core.outward_target); a worker that is killed blocks the row no longer.
CLAIM_SECONDS = 60
# No delivery is begun after so long; what is under way then ends within a call's time.
ROUND_SECONDS = 20.0
# While receivers hang, what has become due for others is looked for so often.
LOOK_SECONDS = 0.5

AT_ONCE = 16
PER_ENDPOINT = 2
PER_PARTNER = 4
# Endpoints that fail at present share these places: those that work always find one.
FAILING_AT_ONCE = 8
# So many of an endpoint are read at one look, so that a long backlog is not looked through for every two of it.
READ_PER_ENDPOINT = 20
_READ_AT_ONCE = 500


@dataclass(frozen=True)
class _Flight:
    delivery: WebhookDelivery
    token: uuid.UUID

    @property
    def is_failing(self) -> bool:
        return self.delivery.endpoint.failing_since is not None


def send_webhooks() -> int:
    """Deliver until nothing is due or the round is over; how many attempts were recorded. Safe to repeat.

    Each delivery is claimed, sent outside of any transaction, and its result guarded by the claim. A second worker
    leaves at once. One result that cannot be recorded holds up no other; its error is raised at the end.
    """
    with locks.only_webhook_sender() as is_ours:
        if not is_ours:
            return 0
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="webhooks") as threads:
            return _Round(threads).run()


class _Round:
    """The threads only call; every statement runs in the caller's thread, on its connection."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._flying: dict[Future[Answer], _Flight] = {}
        self._ends = time.monotonic() + ROUND_SECONDS
        self._waiting: list[WebhookDelivery] = []
        self._looked = 0.0
        self._error: Exception | None = None

    def run(self) -> int:
        recorded = 0
        while True:
            if time.monotonic() < self._ends:
                self._begin()
            if not self._flying:
                break
            done, _ = wait(self._flying, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            recorded += sum(self._end(future) for future in done)
        if self._error is not None:
            raise self._error
        return recorded

    def _begin(self) -> None:
        """What was read and finds no room waits in memory until the next look; a claim judges its row anew."""
        if not self._waiting or time.monotonic() - self._looked >= LOOK_SECONDS:
            self._waiting = due_deliveries(per_endpoint=READ_PER_ENDPOINT, limit=_READ_AT_ONCE)
            self._looked = time.monotonic()
        found, self._waiting = self._waiting, []
        for delivery in found:
            if not self._has_room(delivery):
                self._waiting.append(delivery)
            elif (token := claim_delivery(delivery)) is not None:
                self._flying[self._threads.submit(_call, delivery)] = _Flight(delivery, token)

    def _has_room(self, delivery: WebhookDelivery) -> bool:
        flights = self._flying.values()
        endpoints = Counter(flight.delivery.endpoint_id for flight in flights)
        partners = Counter(flight.delivery.endpoint.partner_id for flight in flights)
        failing = sum(flight.is_failing for flight in flights)
        return (
            len(flights) < AT_ONCE
            and endpoints[delivery.endpoint_id] < PER_ENDPOINT
            and partners[delivery.endpoint.partner_id] < PER_PARTNER
            and (delivery.endpoint.failing_since is None or failing < FAILING_AT_ONCE)
        )

    def _end(self, future: Future[Answer]) -> bool:
        flight = self._flying.pop(future)
        try:
            return record_attempt(delivery_id=flight.delivery.pk, token=flight.token, answer=future.result())
        except Exception as error:
            log.exception("webhook_not_recorded", delivery=flight.delivery.pk)
            self._error = self._error or error
            return False


def claim_delivery(delivery: WebhookDelivery) -> uuid.UUID | None:
    """Take it; None where another worker has it, or it is no longer due."""
    rows = WebhookDelivery.objects.filter(
        pk=delivery.pk, status=WebhookDelivery.Status.PENDING, next_at__lte=clock.system_now()
    )
    return claims.claim(rows, seconds=CLAIM_SECONDS)


def _call(delivery: WebhookDelivery) -> Answer:
    """No statement of the database in here."""
    try:
        # Again, because the rules may have become stricter since the address was saved.
        target = parse_target(delivery.endpoint.url)
    except Refusal as refusal:
        return Answer(None, refusal.code, 0)
    headers = signed_headers(
        delivery.endpoint, message_id=delivery.message_id, body=delivery.body, moment=clock.system_now()
    )
    headers |= {"Content-Type": "application/json", "User-Agent": f"AnchorGPU/{VERSION}"}
    return outward.post(target, body=delivery.body.encode(), headers=headers)
