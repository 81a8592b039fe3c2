"""A partner with an endpoint and orders, and a receiver that answers as a test says, without a network."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import transaction
from standardwebhooks import Webhook

from core import outbox, outward
from core.events import emit
from core.models import Event
from core.outward import Answer
from core.outward_target import Target
from orders.models import Order
from partners.models import Partner, PartnerOrder, WebhookDelivery, WebhookEndpoint
from partners.services.change_endpoint import add_endpoint
from tests import scenario

URL = "https://hooks.example.com/in"


@dataclass
class Call:
    url: str
    body: bytes
    headers: dict[str, str]

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def verified(self, secret: str) -> dict[str, Any]:
        """What the receiver's library says; it raises where no signature fits."""
        found: dict[str, Any] = Webhook(secret).verify(self.body, self.headers)
        return found


@dataclass
class Receiver:
    """Answers `status` (0: no answer), or what `answer` returns for a call."""

    status: int = 200
    answer: Callable[[Call], Answer] | None = None
    calls: list[Call] = field(default_factory=list)

    def post(self, target: Target, *, body: bytes, headers: dict[str, str]) -> Answer:
        call = Call(target.url, body, dict(headers))
        self.calls.append(call)
        if self.answer is not None:
            return self.answer(call)
        return Answer(self.status or None, "" if self.status else "timeout", 7)

    @property
    def ids(self) -> list[str]:
        return [call.id for call in self.calls]


def receive(monkeypatch: pytest.MonkeyPatch) -> Receiver:
    receiver = Receiver()
    monkeypatch.setattr(outward, "post", receiver.post)
    return receiver


def endpoint_for(partner: Partner, **changes: Any) -> WebhookEndpoint:
    values: dict[str, Any] = {"partner_id": partner.pk, "url": URL, "actor": "test"}
    return add_endpoint(**values | changes)


def order_of(partner: Partner) -> Order:
    """A placed order that is his; the events of its placement are told."""
    placed = scenario.order(owner=partner.owner)
    PartnerOrder.objects.create(order=placed, partner=partner)
    outbox.drain()
    return placed


def tell(name: str, order_ref: str, **values: Any) -> Event:
    """One event of an order, handed to the fan-out."""
    with transaction.atomic():
        event = emit(name=name, subject=f"order:{order_ref}", order_ref=order_ref, **values)
    outbox.drain()
    return event


def forget() -> None:
    """What was told so far."""
    WebhookDelivery.objects.all().delete()


def states() -> list[tuple[str, str, int]]:
    """Deliveries in the order in which they were made."""
    rows = WebhookDelivery.objects.order_by("pk")
    return [(row.event_name, row.status, row.attempts) for row in rows]
