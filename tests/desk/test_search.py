"""The box in the head: everything that staff are given is found, by an index, and only what a role may see."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from billing.models import CardEvent, CardFact, CardSession, Claim, Refund, RefundMovement, Transfer
from billing.services.refund import open_refund
from billing.services.refund_destination import confirm_destination
from core import clock
from desk.search import HITS, search
from fleet.models import Card, Lease
from orders.models import Order
from tests import scenario
from tests.core.desk import address, staff

pytestmark = pytest.mark.django_db
URL = "/admin/desk/search/"
DESTINATION = "0x8ba1f109551bD432803012645Ac136ddd64DBA72"
CLAIMED = "0x" + "cd" * 32
SENT = "0x" + "ef" * 32


@pytest.fixture
def order() -> Order:
    """Sold, with traces of every kind."""
    scenario.open_shop()
    row = scenario.order()
    scenario.pay(row)
    Order.objects.filter(pk=row.pk).update(contact_email="Buyer@Example.com")
    payment = row.payment
    Claim.objects.create(payment=payment, transaction_hash=CLAIMED, by="web", at=clock.system_now())
    refund = open_refund(order_id=row.public_id, key="k", reason="by_hand", leg="local:USDC", units=5)
    assert refund is not None
    confirm_destination(order_id=row.public_id, refund_id=refund.pk, destination=DESTINATION)
    Refund.objects.filter(pk=refund.pk).update(tx_hash=SENT)
    moment = {"livemode": False, "amount_minor": 1, "currency": "USD"}
    session = CardSession.objects.create(
        payment=payment,
        attempt=1,
        session_id="cs_test_1",
        language="en",
        amount_minor=1,
        currency="USD",
        wanted_at=clock.now(),
        expires_at=clock.now(),
        next_at=clock.system_now(),
    )
    CardFact.objects.create(
        payment=payment,
        session=session,
        kind="dispute",
        reference="dp_1",
        payment_intent="pi_1",
        status="needs_response",
        read_at=clock.now(),
        **moment,
    )
    CardEvent.objects.create(
        event_id="evt_1",
        kind="checkout.session.completed",
        session_id="cs_test_1",
        livemode=False,
        body={},
        received_at=clock.now(),
        next_at=clock.system_now(),
    )
    RefundMovement.objects.create(
        refund=refund, rail="bank_card", card_refund_id="re_1", units=5, found_at=clock.now()
    )
    return Order.objects.get(pk=row.pk)


@pytest.fixture
def ines() -> Client:
    return staff("ines", superuser=True)


def ask(client: Client, text: str) -> Any:
    return client.get(URL, {"q": text})


def found(response: Any) -> list[tuple[str, str]]:
    """Address and text of each hit."""
    pairs = re.findall(r'<h3><a href="([^"]+)">(.*?)</a></h3>', response.content.decode())
    return [(url, html.unescape(text)) for url, text in pairs]


# What is typed -> in how many ways it may be written; each finds the order.
OF_ORDER: dict[str, Callable[[Order], str]] = {
    "public id": lambda order: order.public_id,
    "beginning of it": lambda order: order.public_id[:9],
    "with blanks around": lambda order: f"  {order.public_id}\n",
    "token": lambda order: order.token,
    "address of its page": lambda order: f"https://shop.example/en/orders/{order.token}/",
    "mail": lambda order: order.mail_to,
    "mail in capitals": lambda order: order.mail_to.upper(),
    "the buyer's mail": lambda _order: "buyer@example.COM",
    "deposit address": lambda order: order.payment.crypto.address,
    "deposit address in small letters": lambda order: order.payment.crypto.address.lower(),
    "deposit address in capitals": lambda order: "0x" + order.payment.crypto.address[2:].upper(),
    "hash of a transfer": lambda order: Transfer.objects.get(payment=order.payment).tx_hash,
    "hash in capitals": lambda order: "0x" + Transfer.objects.get(payment=order.payment).tx_hash[2:].upper(),
    "hash that was claimed": lambda _order: CLAIMED,
    "card session": lambda _order: "cs_test_1",
    "card payment": lambda _order: "pi_1",
    "dispute": lambda _order: "dp_1",
    "event": lambda _order: "evt_1",
}


def test_an_order_is_found_by_all_that_a_person_has_of_it(order: Order, ines: Client) -> None:
    for name, written in OF_ORDER.items():
        assert (address(order), order.public_id) in found(ask(ines, written(order))), name


def test_the_other_things_are_found(order: Order, ines: Client) -> None:
    lease = Lease.objects.get(order_ref=order.public_id)
    card = Card.objects.get(serial="b200-n00-3")
    refund = Refund.objects.get()
    invoice = order.invoices.get(key="invoice")
    for text, row in (
        (lease.username, lease),
        (order.public_id, lease),
        (order.public_id, refund),
        (order.public_id, invoice),
        (card.serial, card),
        ("h100-n00", Card.objects.get(serial="h100-n00-0")),
        ("b200-n", card.node),
        (card.node.name, card.node),
        (order.quote.public_id, order.quote),
        (str(invoice), invoice),
        (str(invoice).lower().replace("-0", "-"), invoice),
        (DESTINATION.lower(), refund),
        (SENT, refund),
        ("re_1", refund),
    ):
        assert address(row) in [url for url, _text in found(ask(ines, text))], text


def test_nothing_found_says_what_can_be_found(order: Order, ines: Client) -> None:
    for text in ("zz", "0x12", "ada@example.org", "INV-999", "cs_none", "%", "_", "b200_n00", "O'Neill"):
        answer = ask(ines, text)
        assert answer.status_code == 200
        assert found(answer) == [], text
        assert "Nothing fits" in answer.content.decode()
    for text in ("", "   "):
        assert "What do you look for?" in ask(ines, text).content.decode()
    assert "What do you look for?" in ines.get(URL).content.decode()


def test_no_text_is_an_error(order: Order, ines: Client) -> None:
    statuses = []
    for text in ("a\x00b", "\ud800", "x" * 201, "\u202e", "<script>alert(1)</script>", "9" * 200, "-1", "²"):
        quoted = "".join(f"%{byte:02x}" for byte in text.encode("utf-8", "surrogatepass"))
        answer = ines.get(f"{URL}?q={quoted}")
        statuses.append(answer.status_code)
        assert b"<script>alert" not in answer.content
    assert set(statuses) == {200, 400}
    assert statuses[0] == statuses[2] == 400
    assert ines.post(URL, {"q": "x"}).status_code == 405


def test_a_short_beginning_is_no_beginning(order: Order, ines: Client) -> None:
    assert found(ask(ines, "b2")) == []
    assert found(ask(ines, "ord_")) == []


def test_many_hits_are_cut_and_it_is_said(order: Order, ines: Client) -> None:
    node = Card.objects.get(serial="b200-n00-3").node
    Card.objects.bulk_create(
        Card(node=node, index=100 + number, serial=f"lot-{number:03d}") for number in range(HITS + 1)
    )
    answer = ask(ines, "lot-")
    assert len(found(answer)) == HITS
    assert "More fit." in answer.content.decode()


def test_each_role_finds_what_it_may_see(order: Order) -> None:
    lease = Lease.objects.get(order_ref=order.public_id)
    machines = staff("machines", "fleet.view_lease", "fleet.view_card")
    assert [url for url, _text in found(ask(machines, order.public_id))] == [address(lease)]
    assert found(ask(machines, order.mail_to)) == []
    assert found(ask(staff("nobody"), order.public_id)) == []
    assert ask(Client(), order.public_id).status_code == 302


def plan(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        return "\n".join(row[0] for row in cursor.fetchall())


# They grow with every year; cards and nodes do not.
GROWING = re.compile(r"Seq Scan on (orders_\w+|billing_\w+|fleet_lease\w*|fleet_hold|core_\w+)", re.ASCII)
ALLOWED = {"billing_chainstate"}


def test_every_look_uses_an_index(order: Order) -> None:
    """The tables of a test are small, so the plain scan is made dear: where one is left, no index would serve."""
    person: Any = staff("ines", superuser=True).get("/admin/").wsgi_request.user
    texts = [*(written(order).strip() for written in OF_ORDER.values()), DESTINATION, SENT, "re_1", "INV-1"]
    with CaptureQueriesContext(connection) as queries:
        for text in texts:
            search(text, person)
    looks = [query["sql"] for query in queries.captured_queries if query["sql"].startswith("SELECT")]
    assert len(looks) > 5 * len(texts)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert GROWING.findall(plan("SELECT 1 FROM orders_order WHERE contact_name = 'x'")) == ["orders_order"]
    scans = [(name, sql) for sql in looks for name in GROWING.findall(plan(sql)) if name not in ALLOWED]
    assert scans == []
