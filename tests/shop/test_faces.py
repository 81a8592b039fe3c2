"""Form, service and command are faces of one checkout: the same rows, whichever was used."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.forms.models import model_to_dict
from django.test import Client

from billing.models import PaymentRequest, PaymentView
from core import outbox
from core.models import Event, OutgoingMail
from fleet.keys import parse_keys
from fleet.models import Hold, Reservation
from orders.models import Order
from tests import scenario
from tests.shop.conftest import configure, order_form

pytestmark = pytest.mark.django_db

# What differs from order to order by its nature.
_OWN = {
    "id", "public_id", "token", "quote", "order", "ref", "owner", "prefix", "placed_at", "hold_expires_at",
    "terms_accepted_at", "opened_at", "expires_at", "release_at", "address", "payment", "watch_until", "hold",
    "card", "period", "created_at", "accepted_at", "document", "signature", "rate_at",
}  # fmt: skip


def rows_of(order: Order) -> dict[str, Any]:
    """Everything that the checkout wrote, without what is the order's own."""

    def bare(row: Any) -> dict[str, Any]:
        return {name: value for name, value in model_to_dict(row).items() if name not in _OWN}

    outbox.drain()
    hold = Hold.objects.get(ref=order.public_id)
    events = Event.objects.filter(order_ref=order.public_id).order_by("id")
    return {
        "order": bare(order),
        "quote": bare(order.quote),
        "hold": bare(hold),
        "reservations": [bare(row) for row in Reservation.objects.filter(hold=hold)],
        "payment": bare(PaymentRequest.objects.get(order=order)),
        "view": bare(PaymentView.objects.get(payment__order=order)),
        "events": [(event.name, event.audience, event.payload) for event in events],
        "mails": list(
            OutgoingMail.objects.filter(order_ref=order.public_id).values_list("to", "language", "status")
        ),
        "held_seconds": (order.hold_expires_at - order.placed_at).total_seconds(),
    }


def by_form(key: str) -> Order:
    buyer = Client()
    quoted = buyer.post("/en/catalog/b200-180/", configure(**{"option_nvme-extra": "2"}))
    placed = buyer.post(f"{quoted['Location']}order/", order_form(ssh_keys=key))
    return Order.objects.get(token=placed["Location"].split("/")[-2])


def by_service(key: str) -> Order:
    quote = scenario.quote(options=[("nvme-extra", 2)])
    return scenario.order(quote, keys=parse_keys(key))


def by_command(key: str, folder: Path) -> Order:
    file = folder / "order.json"
    file.write_text(json.dumps(order_file(key)), encoding="utf-8")
    out = StringIO()
    call_command("place_order", file=file, stdout=out)
    return Order.objects.get(token=out.getvalue().strip().split("/")[-2])


def order_file(key: str) -> dict[str, Any]:
    return {
        "quote": {
            "lot": "b200-180x2",
            "lots": 1,
            "days": 3,
            "image": "pt-cu128",
            "options": [{"code": "nvme-extra", "quantity": 2}],
            "bill_to": {"country": "DE", "kind": "consumer"},
        },
        "contact": {"name": "Ada", "email": "ada@example.com", "company": "", "language": "en"},
        "ssh_keys": [key],
        "pay_with": {"network": "local", "asset": "USDC"},
        "accept_terms": settings.TERMS_VERSION,
    }


def test_each_face_writes_the_same_rows(shop: None, tmp_path: Path) -> None:
    key = scenario.new_key_line()
    form, service, command = by_form(key), by_service(key), by_command(key, tmp_path)
    assert rows_of(form) == rows_of(service)
    assert rows_of(service) == rows_of(command)
    assert len({order.owner for order in (form, service, command)}) == 3
    assert len({order.payment.address_id for order in (form, service, command)}) == 3


def test_the_command_says_what_is_wrong(shop: None, tmp_path: Path) -> None:
    file = tmp_path / "order.json"
    good = order_file(scenario.new_key_line())
    for broken, words in (
        ({"accept_terms": ""}, "terms_not_accepted (accept_terms)"),
        ({"quote": "qt_NONE"}, "no such quote"),
        ({"ssh_keys": ["nonsense"]}, "key_rejected (ssh_keys)"),
        ({"contact": {"name": "Ada"}}, "lacks or misshapes"),
    ):
        file.write_text(json.dumps(good | broken), encoding="utf-8")
        with pytest.raises(CommandError, match=words.replace("(", r"\(").replace(")", r"\)")):
            call_command("place_order", file=file)
    file.write_text("{", encoding="utf-8")
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("place_order", file=file)
    assert not Order.objects.exists()
