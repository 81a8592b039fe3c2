"""The list of decisions: every kind in words with its facts, in order, bounded, and only what a role may press."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from billing.legs import legs_of
from billing.models import PaymentView, Refund
from billing.services.refund import open_refund
from core import clock, decisions
from core.models import Decision
from desk.decision_words import WORDS
from desk.queue import ROWS
from fleet.models import Card, Lease, Node
from orders.models import Order
from tests import scenario
from tests.core.desk import address, staff
from tests.desk.every_kind import FACTS, open_one

pytestmark = pytest.mark.django_db
URL = "/admin/"


@pytest.fixture
def sold() -> tuple[Order, Lease]:
    scenario.open_shop()
    order = scenario.order()
    scenario.pay(order)
    Decision.objects.all().delete()
    return order, Lease.objects.get(order_ref=order.public_id)


@pytest.fixture
def ines() -> Client:
    return staff("ines", superuser=True)


def read(response: Any) -> str:
    """What a person reads."""
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split()))


def headings(response: Any) -> list[str]:
    found = re.findall(r"<h3>(.*?)</h3>", response.content.decode(), re.DOTALL)
    return [html.unescape(text) for text in found]


def test_each_kind_has_its_words_and_an_example() -> None:
    assert set(WORDS) == set(settings.DECISION_KINDS) == set(FACTS)


def test_each_kind_is_told_with_its_facts(sold: tuple[Order, Lease], ines: Client) -> None:
    order, lease = sold
    for kind in FACTS:
        open_one(kind, order, lease)
    first, second = (ines.get(URL, {"page": page}) for page in (1, 2))
    page = read(first) + read(second)
    assert f"{len(FACTS)} decisions wait for you" in page
    for told in (
        "Late, 1 h 28 min left",
        "1,500.50 of 2,028.00 USDC arrived",
        "527.50 USDC are missing",
        "24.00 USDC more than was asked",
        "2,052.00 USDC after the hold ended",
        "500.00 USDC.e on local instead of 2,028.00 USDC",
        "Send 4,112.00 USDC, then enter the hash",
        "To 0x8ba1f109551bD432803012645Ac136ddd64DBA72 on local.",
        "2,028.00 USD are disputed by the cardholder",
        "“Your order” did not reach ada@example.com",
        "The cards of l",
        "b200-n00-1: missing.",
        "h100-n00 does not answer",
        "“The second card is slow.”",
        "It should run at least every 2 min.",
    ):
        assert told in page.replace("\u00a0", " "), told
    rows = headings(first) + headings(second)
    assert len(rows) == len(FACTS)
    assert all(text.strip() and "%(" not in text for text in rows)
    assert "%(" not in page
    assert rows[0] == f"2 × {lease.hold.lot.accelerator.name} for Ada: not ready"


def test_each_kind_is_told_also_when_a_fact_is_missing_or_odd(
    sold: tuple[Order, Lease], ines: Client
) -> None:
    """A row of an older version, or of an order that is gone, is no reason for an error page."""
    odd = {name: "odd" for _word, facts in FACTS.values() for name in facts}
    for number, kind in enumerate([*FACTS, "from_another_version"]):
        decisions.open_decision(kind=kind, subject=f"lease:{10**6 + number}", order_ref="ord_gone")
        decisions.open_decision(
            kind=kind, subject=f"lease:x{number}", facts=odd | {"others": [{}], "cards": [1]}
        )
    pages = [ines.get(URL, {"page": page}) for page in (1, 2, 3)]
    assert [answer.status_code for answer in pages] == [200] * 3
    assert sum(len(headings(answer)) for answer in pages) == 2 * (len(FACTS) + 1)


def test_nearest_deadline_first_then_the_oldest(ines: Client) -> None:
    now = clock.now()
    for name, due, age in (("c", None, 5), ("a", 60, 1), ("d", None, 1), ("b", 90, 9), ("0", -5, 0)):
        row = decisions.open_decision(
            kind="node_away",
            subject=f"node:{name}",
            due_at=None if due is None else now + timedelta(minutes=due),
        )
        Decision.objects.filter(pk=row.pk).update(opened_at=now - timedelta(hours=age))
    answer = ines.get(URL)
    assert headings(answer) == [f"{name} does not answer" for name in "0abcd"]
    assert "Node away, time is up" in read(answer)
    filled = re.findall(r'class="btn small" id="d(\d+)-', answer.content.decode())
    assert filled == [str(Decision.objects.get(subject="node:0").pk)]


def test_five_hundred_cost_what_five_cost(sold: tuple[Order, Lease], ines: Client) -> None:
    order, lease = sold
    counts = []
    for total in (5, 500):
        now = clock.now()
        Decision.objects.all().delete()
        Decision.objects.bulk_create(
            Decision(
                kind="lease_failing",
                subject=f"lease:{lease.pk if number == 0 else 10**6 + number}",
                order_ref=order.public_id,
                facts={},
                opened_at=now,
            )
            for number in range(total)
        )
        with CaptureQueriesContext(
            connection,
        ) as queries:
            answer = ines.get(URL)
        counts.append(len(queries))
        assert len(headings(answer)) == min(total, ROWS)
    assert counts[0] == counts[1]
    assert f"Page 1 of {500 // ROWS}" in read(answer)
    assert len(headings(ines.get(URL, {"page": 500 // ROWS}))) == ROWS
    for odd in ("0", "-1", "x", "9" * 30, "99999", "²"):
        assert ines.get(URL, {"page": odd}).status_code == 200


def test_nothing_to_decide_is_said_calmly(ines: Client) -> None:
    page = read(ines.get(URL))
    for told in (
        "Nothing waits for you",
        "No decision is open",
        "0 payments to look at",
        "0 leases in trouble",
        "0 nodes unhealthy",
        "0 refunds due",
    ):
        assert told in page


def test_the_figures_count_what_is_there(sold: tuple[Order, Lease], ines: Client) -> None:
    order, lease = sold
    open_one("payment_late", order, lease)
    open_one("lease_late", order, lease)
    Node.objects.filter(name="h100-n00").update(healthy=False)
    Card.objects.filter(serial="b200-n00-7").update(healthy=False)
    with transaction.atomic():
        (leg,) = legs_of(PaymentView.objects.get(payment=order.payment))
        refund = open_refund(
            order_id=order.public_id, leg=leg.code, key="test", reason=Refund.Reason.BY_HAND, units=12_500_000
        )
    assert refund is not None
    page = read(ines.get(URL)).replace("\u00a0", " ")
    for told in (
        "1 payment to look at",
        "1 lease in trouble, next deadline in 1 h 28 min",
        "1 node unhealthy, and 1 card",
        "12.50 USDC refund due, 0 to send, 1 waits for an address",
    ):
        assert told in page, told


def test_a_role_is_shown_what_it_may_press(sold: tuple[Order, Lease]) -> None:
    order, lease = sold
    row = open_one("lease_late", order, lease)
    looks = staff("looks", "core.view_decision")
    page = looks.get(URL)
    assert "Your role only looks at this." in read(page)
    assert f"/decisions/{row.pk}/" not in page.content.decode()
    # Without the right to see orders and leases the tags are no links.
    assert address(order) not in page.content.decode()
    acts = staff("acts", "core.view_decision", "fleet.change_lease", "orders.view_order").get(URL)
    assert f"/decisions/{row.pk}/take_other_cards/" in acts.content.decode()
    assert f"/decisions/{row.pk}/refund_now/" not in acts.content.decode()
    assert address(order) in acts.content.decode()
    assert address(lease) in acts.content.decode()
    nobody = read(staff("editor", "catalog.view_lot").get(URL))
    assert "Your role decides nothing here" in nobody
    assert "not ready" not in nobody
    assert Client().get(URL).status_code == 302


def test_what_people_typed_is_text(sold: tuple[Order, Lease], ines: Client) -> None:
    order, lease = sold
    evil = "<script>alert(1)</script>"
    Order.objects.filter(pk=order.pk).update(contact_name=evil)
    Lease.objects.filter(pk=lease.pk).update(last_error=evil)
    decisions.open_decision(
        kind="problem_reported", subject="report:1", order_ref=order.public_id, facts={"text": evil}
    )
    open_one("lease_late", order, lease)
    answer = ines.get(URL)
    assert evil not in answer.content.decode()
    assert evil in read(answer)
    assert "script-src 'self'" in answer["Content-Security-Policy"]


def test_a_refresh_after_the_session_has_ended_leads_to_the_login(ines: Client) -> None:
    """A part that renews itself must not put a login form, or nothing, in the place of the list."""
    assert ines.get(URL, headers={"HX-Request": "true"}).status_code == 200
    answer = Client().get(URL, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Refresh"], answer.content) == (204, "true", b"")


def test_a_page_that_is_closed_to_staff_leads_back_to_the_desk() -> None:
    page = staff("otto").get("/admin/desk/fleet/")
    assert page.status_code == 403
    text = page.content.decode()
    assert 'href="/admin/"' in text
    assert "Your money" not in text
