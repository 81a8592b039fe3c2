"""S40: tables as files, complete, in one form for every language, for who may have them, noted before they leave."""

import csv
import io
from collections import defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from billing import exports as tables
from billing import ledger
from billing.models import LedgerEntry, LedgerTransaction
from core import clock
from core.csv_safe import plain_text
from core.export import Period, by_key
from core.models import AuditEntry, Event
from orders.contact import clean_contact
from orders.models import Order
from tests import scenario
from tests.core.desk import staff

pytestmark = pytest.mark.django_db
PAGE = "/admin/desk/exports/"
SEES = ("orders.export_order", "orders.view_order", "billing.view_ledgerentry")
HOSTILE = [
    ("=HYPERLINK(1)", "+Söhne; =1+1"),
    ("@Мария Кюри", '"-2+3'),
    ("＝1+1", "Groß, 'Co'"),
    ("+49 30 1234567", ""),
]


def ask(client: Client, table: str, **changes: Any) -> Any:
    today = clock.now().date().isoformat()
    fields = {"table": table, "first": today, "last": today, "separator": "comma"} | changes
    return client.post(PAGE, fields, headers=changes.pop("headers", None) or {})


def rows_of(response: Any, separator: str = ",") -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))


def placed(name: str = "Ada", company: str = "") -> Order:
    contact = clean_contact(name=name, email="ada@example.com", company=company, language="en")
    return scenario.order(contact=contact)


@pytest.fixture
def shop(db: None) -> None:
    scenario.open_shop(b200_nodes=2)


@pytest.mark.usefixtures("shop")
def test_orders_of_hostile_buyers_come_back_whole_and_alike_in_every_language() -> None:
    orders = [placed(name, company) for name, company in HOSTILE]
    client = staff("fin", *SEES)
    files = {
        language: b"".join(ask(client, "orders", headers={"Accept-Language": language}).streaming_content)
        for language in ("en", "de", "fr", "ru")
    }
    assert len(set(files.values())) == 1
    assert files["ru"].startswith(b"\xef\xbb\xbforder,placed_at,status,")
    found = list(csv.DictReader(io.StringIO(files["de"].decode("utf-8-sig"), newline="")))
    assert [row["order"] for row in found] == [order.public_id for order in orders]
    for row, order, (name, company) in zip(found, orders, HOSTILE, strict=True):
        assert (plain_text(row["contact_name"]), plain_text(row["contact_company"])) == (name, company)
        assert row["contact_name"].startswith("'")
        assert None not in row
        assert Decimal(row["total"]) == order.quote.total
        assert int(row["due_units"]) == order.payment.due_units
        assert row["placed_at"] == order.placed_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert found[3]["contact_name"] == "'+49 30 1234567"


@pytest.mark.usefixtures("shop")
def test_the_books_leave_with_both_sides_of_each_transaction() -> None:
    scenario.pay(placed())
    found = rows_of(ask(staff("fin", *SEES), "ledger", separator="semicolon"), ";")
    assert [int(row["entry"]) for row in found] == list(
        LedgerEntry.objects.order_by("pk").values_list("pk", flat=True)
    )
    sums: dict[tuple[str, str], int] = defaultdict(int)
    for row in found:
        assert int(row["debit_units"]) - int(row["credit_units"]) == int(row["units"])
        sums[row["transaction"], row["asset"]] += int(row["units"])
    assert len(found) > 3
    assert set(sums.values()) == {0}


@pytest.mark.usefixtures("shop")
def test_each_file_is_noted_before_its_first_line_leaves() -> None:
    placed()
    placed()
    response = ask(staff("fin", *SEES), "orders")
    entry = AuditEntry.objects.get()
    today = clock.now().date().isoformat()
    assert (entry.actor, entry.action) == ("fin", "export.orders")
    assert entry.after == {"from": today, "to": today, "rows": 2}
    assert len(rows_of(response)) == 2
    assert 'filename="anchorgpu-orders-' in response["Content-Disposition"]


def test_who_may_not_gets_no_file() -> None:
    assert staff("sup", "orders.view_order").get(PAGE).status_code == 403
    assert ask(staff("sup2", "orders.view_order"), "orders").status_code == 403
    finance = staff("fin", "orders.export_order", "orders.view_order")
    page = finance.get(PAGE)
    assert b'value="orders"' in page.content
    assert b'value="ledger"' not in page.content
    assert ask(finance, "ledger").status_code == 400
    assert staff("odd", "orders.export_order").get(PAGE).status_code == 200
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"table": "users"},
        {"table": ""},
        {"first": "2026-12-02", "last": "2026-12-01"},
        {"first": "0001-01-01"},
        {"last": "9999-12-31"},
        {"first": "01.12.2026"},
        {"first": "\x00"},
        {"first": ""},
        {"separator": "pipe"},
    ],
)
def test_a_wrong_question_is_refused_with_its_field(changes: dict[str, str]) -> None:
    response = ask(staff("fin", *SEES), changes.pop("table", "orders"), **changes)
    assert response.status_code == 400
    assert b"error-summary" in response.content
    assert not AuditEntry.objects.exists()


def test_rows_of_one_moment_come_once_each_whatever_is_written_meanwhile() -> None:
    moment = clock.now()
    Event.objects.bulk_create(Event(name=f"e{n}", subject="s", at=moment) for n in range(25))
    walk = by_key(Event.objects.filter(at=moment), page=10)
    seen = [next(walk).name for _ in range(12)]
    Event.objects.bulk_create(Event(name=f"late{n}", subject="s", at=moment) for n in range(3))
    seen += [row.name for row in walk]
    assert seen == [f"e{n}" for n in range(25)] + ["late0", "late1", "late2"]


def test_a_long_table_is_read_page_by_page() -> None:
    moment = clock.now()
    Event.objects.bulk_create(Event(name="e", subject="s", at=moment) for _ in range(30))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        walk = by_key(Event.objects.filter(at=moment), page=10)
        for _ in range(11):
            next(walk)
    assert len(queries) == 2
    assert all("LIMIT 10" in query["sql"] for query in queries.captured_queries)


def book(order: Order, kind: str, at: datetime, *lines: tuple[str, int, date | None]) -> None:
    row = LedgerTransaction.objects.create(key=f"{order.pk}:{kind}:{at}", kind=kind, order=order, at=at)
    LedgerEntry.objects.bulk_create(
        LedgerEntry(transaction=row, account=account, asset="USD", units=units, order=order, day=day)
        for account, units, day in lines
    )


@pytest.mark.usefixtures("shop")
def test_revenue_is_what_the_books_say_by_day_accelerator_and_term() -> None:
    """By hand: 100 + 50 on the first day for B200, 3 days; 30 corrected by 5 and 10 given back on the second."""
    first, second, third = (date(2026, 11, day) for day in (1, 2, 3))
    one, two = placed(), placed()
    other = scenario.order(scenario.quote(lot="h100-sxm-80x8", days=7))
    noon = datetime(2026, 11, 2, 12, tzinfo=UTC)
    book(one, "a", noon, (ledger.EARNED, -10_000, first), (ledger.DEFERRED, 10_000, None))
    book(two, "b", noon, (ledger.EARNED, -5_000, first), (ledger.DEFERRED, 5_000, None))
    book(one, "c", noon, (ledger.EARNED, -3_000, second), (ledger.DEFERRED, 3_000, None))
    book(one, "d", noon, (ledger.EARNED, 500, second), (ledger.DEFERRED, -500, None))
    book(two, "e", noon, (ledger.CREDITS, 1_000, None), (ledger.CREDITS_DUE, -1_000, None))
    book(other, "f", noon, (ledger.EARNED, -7_777, second), (ledger.DEFERRED, 7_777, None))
    book(other, "g", noon, (ledger.EARNED, -9_999, third), (ledger.DEFERRED, 9_999, None))
    found = rows_of(ask(staff("fin", *SEES), "revenue", first="2026-11-01", last="2026-11-02"))
    assert [tuple(row.values()) for row in found] == [
        ("2026-11-01", "b200-180", "3", "USD", "150.00", "0.00", "0.00", "150.00"),
        ("2026-11-02", "b200-180", "3", "USD", "25.00", "0.00", "10.00", "15.00"),
        ("2026-11-02", "h100-sxm-80", "7", "USD", "77.77", "0.00", "0.00", "77.77"),
    ]


@pytest.mark.usefixtures("shop")
def test_every_table_has_its_columns_and_they_stay() -> None:
    """A program reads them by name: a change here breaks it."""
    order = placed()
    scenario.pay(order)
    today = clock.now().date()
    expected = {
        "orders": "order placed_at status extends quote price_version accelerator lot lots days image starts_at "
        "paid_at active_at ended_at expired_at cancelled_at failed_at currency subtotal tax total country "
        "customer_kind vat_id payment_rail payment_network payment_asset asset_decimals payment_status "
        "payment_flags settled_at due_units received_units settled_units refunded_units card_received "
        "card_refunded refunds_open contact_name contact_company contact_email contact_language notify erased_at",
        "ledger": "entry transaction transaction_key booked_at kind order account asset units debit_units "
        "credit_units day",
        "revenue": "day accelerator term_days currency earned to_come given_back net",
        "refunds": "refund order reason status rail network asset decimals units amount destination "
        "transaction_hash card_refund opened_at opened_by sent_at sent_by verified_at failed_at",
        "invoices": "number kind issued_at order cancels currency subtotal tax total country vat_id buyer_name "
        "buyer_company language",
    }
    for name, table in tables.TABLES.items():
        assert [column.name for column in table.columns] == expected[name].split()
        for row in table.rows(Period(today, today)):
            assert len([column.value(row) for column in table.columns]) == len(table.columns)
    assert tables.INVOICES.count(Period(today, today)) == 2


@pytest.mark.usefixtures("shop")
def test_the_command_writes_the_same_file(tmp_path: Path) -> None:
    placed()
    page = b"".join(ask(staff("fin", *SEES), "orders").streaming_content)
    today = clock.now().date().isoformat()
    file = tmp_path / "orders.csv"
    call_command("export", "orders", "--from", today, "--to", today, "--output", str(file))
    assert file.read_bytes() == page
    assert AuditEntry.objects.filter(actor="export", action="export.orders").exists()
    with pytest.raises(CommandError, match="ends before it begins"):
        call_command("export", "orders", "--from", today, "--to", "2020-01-01")
