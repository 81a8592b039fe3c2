"""A buyer asks for his data, or to be forgotten: all of it is found, all of it goes but the books, and those stay."""

import json
import zipfile
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from billing import offers, reconciled
from billing.models import Invoice, LedgerEntry, Refund
from core import decisions, person
from core.models import AuditEntry, Event, OutgoingMail
from desk.person_words import CHANGED, SECTIONS
from orders.models import Order
from partners.models import Member, Partner
from partners.services.make_partner import make_partner
from tests import cards, scenario
from tests.core.desk import staff
from tests.desk import buyers
from tests.desk.buyers import COMPANY, EMAIL, NAME, Traces
from tests.terms import active_order, take_logins_for_good

pytestmark = pytest.mark.django_db
PAGE, EXPORT, ERASE = (f"/admin/desk/person/{step}" for step in ("", "export/", "erase/"))
MAY = ("orders.export_person", "orders.erase_person")
SOME_ROWS = {"orders_order", "core_outgoingmail", "core_event", "core_auditentry", "fleet_accesskey"}


@pytest.fixture
def shop(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    take_logins_for_good(monkeypatch)
    cards.take_cards(settings)
    scenario.open_shop()


@pytest.fixture
def traces(shop: None) -> Traces:
    return buyers.everywhere()


def erase(client: Client, **changes: str) -> Any:
    return client.post(ERASE, {"address": EMAIL, "reason": "asked on 1 Dec"} | changes)


def test_nothing_of_the_buyer_is_left_but_his_invoices_and_the_books_stand(
    traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = buyers.mentions(traces.needles)
    assert before.keys() > SOME_ROWS | {"billing_cardevent", "partners_partnerorder", "orders_ordersearch"}
    books = list(LedgerEntry.objects.order_by("pk").values())
    documents = list(Invoice.objects.order_by("pk").values())
    waiting = OutgoingMail.objects.filter(status="queued").count()

    response = erase(staff("owner", *MAY))

    assert response.status_code == 303
    left = buyers.mentions(traces.needles)
    assert left == {"billing_invoice": {EMAIL.lower(), NAME.lower(), "quuxwerk"}}
    assert list(LedgerEntry.objects.order_by("pk").values()) == books
    assert list(Invoice.objects.order_by("pk").values()) == documents
    assert list(reconciled.row_differences()) == []
    # The part that reads chains reads no row that was changed.
    monkeypatch.setattr(offers, "networks", dict)
    call_command("reconcile", "--looks", "1")
    # The partner's own mail about the order is his; all that waited for the buyer is not sent.
    assert waiting > 1
    queued = OutgoingMail.objects.filter(status="queued")
    assert set(queued.values_list("to", flat=True)) <= {"", "api@acme.example"}
    traces.by_partner.refresh_from_db()
    assert (traces.by_partner.mail_to, traces.by_partner.owner[:8]) == ("api@acme.example", "partner:")


def test_a_mail_that_leaves_at_this_moment_is_not_written_over(
    traces: Traces,
) -> None:
    """Under its lock the erasure reads what the worker has just written, such as that the mail was sent."""
    with CaptureQueriesContext(connection) as queries:
        erase(staff("owner", *MAY))
    asked = [query["sql"] for query in queries if 'FROM "core_outgoingmail"' in query["sql"]]
    assert any("FOR UPDATE" in sql for sql in asked)


def test_the_erasure_is_noted_without_the_person_and_a_second_one_finds_nothing(traces: Traces) -> None:
    owner = staff("owner", *MAY)
    done = owner.get(erase(owner, reason=f"{NAME} asked")["Location"])
    assert done.status_code == 200
    entry = AuditEntry.objects.get(action="person.erase")
    assert (entry.actor, entry.reason, entry.subject[:7]) == ("owner", "[erased]", "person:")
    assert entry.subject == person.Person(address=EMAIL.lower()).mark
    assert (entry.after["orders"], entry.after["access_keys"]) == (3, 2)
    assert all(str(CHANGED[name]) in done.content.decode() for name in entry.after)
    again = erase(owner)
    assert again.status_code == 400
    assert "Nothing is kept about this address." in again.content.decode()
    assert "Nothing is kept about this address" in owner.post(PAGE, {"address": EMAIL}).content.decode()
    assert AuditEntry.objects.filter(action="person.erase").count() == 1


def test_old_links_open_nothing_and_nobody_is_mailed_again(traces: Traces) -> None:
    link = traces.ended.get_absolute_url()
    document = Invoice.objects.filter(order=traces.ended).earliest("pk")
    links = (link, reverse("shop:invoice", args=[traces.ended.token, document.token]))
    client = Client()
    # The PDF is still to be made.
    assert [client.get(path).status_code for path in links] == [200, 202]
    unpaid, anothers = buyers.cancelled(buyers.buys()), buyers.cancelled(scenario.order())
    erase(staff("owner", *MAY))
    assert [client.get(path).status_code for path in links] == [404, 404]
    # Money arrives after all: it is due back, and whoever can be reached is told.
    mails = OutgoingMail.objects.count()
    for order, told in ((unpaid, 0), (anothers, 1)):
        scenario.pay(Order.objects.select_related("payment").get(pk=order.pk))
        assert Refund.objects.get(order=order).status == "address_needed"
        assert OutgoingMail.objects.count() - mails == told


def test_all_that_is_kept_is_handed_out_in_plain_names(traces: Traces) -> None:
    owner = staff("owner", *MAY)
    page = owner.post(PAGE, {"address": f"  {EMAIL.upper()} "}).content.decode()
    response = owner.post(EXPORT, {"address": EMAIL})
    archive = zipfile.ZipFile(BytesIO(response.content))
    sections = json.loads(archive.read("personal-data.json"))["sections"]
    assert sections.keys() == SECTIONS.keys() - {"members"}
    for part in sections.values():
        assert part["what"] in page
    text = archive.read("personal-data.json").decode()
    # The books' own words and everything that the erasure takes: the file has no less.
    assert [needle for needle in traces.needles if needle not in text.lower()] == []
    assert buyers.WALLET in text
    assert {row["order"] for row in sections["orders"]["rows"]} == set(
        Order.objects.values_list("public_id", flat=True)
    )
    entry = AuditEntry.objects.get(action="person.export")
    assert entry.after["orders"] == 3
    assert EMAIL.lower() not in str(entry.__dict__).lower()


def of_staff() -> str:
    User.objects.create(username="zq", email=EMAIL.lower())
    return "staff account"


def of_a_member() -> str:
    partner = make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")
    Member.objects.create(partner=partner, name=NAME, mail=EMAIL, created_at=partner.created_at)
    return "active member of partner Acme"


def of_a_partner() -> str:
    Partner.objects.all().delete()
    make_partner(name="Acme", slug="acme", mail=EMAIL, actor="test")
    return "that of partner Acme"


def running() -> str:
    active_order(contact=buyers.contact(), mail_to=EMAIL)
    return "is not wiped yet"


def owed() -> str:
    order = buyers.buys()
    scenario.pay(order)
    buyers.cancelled(order)
    return "has not arrived yet."


def asked() -> str:
    decisions.open_decision(
        kind="problem_reported",
        subject="report:9",
        order_ref=Order.objects.get().public_id,
        facts={"text": "?"},
    )
    return f"A decision about order {Order.objects.get().public_id} is open."


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("matter", [of_staff, of_a_member, of_a_partner, running, owed, asked])
def test_what_is_not_settled_refuses_the_erasure_and_is_named(matter: Callable[[], str]) -> None:
    first = buyers.buys()
    sentence = matter()
    client = staff("owner", *MAY)
    for response in (client.post(ERASE, {"address": EMAIL}), erase(client)):
        text = response.content.decode()
        assert response.status_code == 409
        assert sentence in text
        assert f"Order {first.public_id} is not over" in text
        assert 'name="reason"' not in text
    first.refresh_from_db()
    assert first.contact_company == COMPANY
    assert not AuditEntry.objects.filter(action="person.erase").exists()


def test_the_page_asks_before_it_erases(traces: Traces) -> None:
    client = staff("owner", *MAY)
    page = client.post(ERASE, {"address": EMAIL})
    assert page.status_code == 200
    assert "What stays, and why" in page.content.decode()
    assert erase(client, reason=" ").status_code == 400
    assert Order.objects.filter(erased_at=None).count() == 3
    assert client.get(ERASE).status_code == 405


def test_only_who_may_sees_or_erases() -> None:
    support = staff("sup", "orders.view_order")
    exporter = staff("exp", "orders.export_person")
    for client, path in ((support, PAGE), (support, EXPORT), (support, ERASE), (exporter, ERASE)):
        assert client.post(path, {"address": EMAIL, "reason": "r"}).status_code == 403
    assert exporter.get(PAGE).status_code == 200


@pytest.mark.parametrize(
    "address", ["", "x", "a@b\x00.example", "a" * 400, "user@[10.0.0.1]", "\ud800@example.com"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    client = staff("owner", *MAY)
    data = {"address": address.encode("utf-8", "surrogatepass").decode("utf-8", "replace")}
    for path in (PAGE, EXPORT, ERASE):
        assert client.post(path, data).status_code == 400


def test_an_unknown_address_is_said_calmly() -> None:
    client = staff("owner", *MAY)
    assert "Nothing is kept about this address" in client.post(PAGE, {"address": EMAIL}).content.decode()
    assert client.post(EXPORT, {"address": EMAIL}).status_code == 400
    assert client.post(ERASE, {"address": EMAIL}).status_code == 200


def refused(sql: str, *values: Any) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, values)
    except DatabaseError:
        return True
    return False


def test_the_log_admits_the_marker_in_place_of_a_text_and_nothing_else() -> None:
    payload = {"member": "Ada", "n": 3, "deep": [{"a": "x", "b": None}]}
    row = Event.objects.create(name="e", subject="s", order_ref="o", payload=payload, at="2026-12-01T00:00Z")
    new = "UPDATE core_event SET payload = %s::jsonb"
    for wrong in (
        payload | {"member": "Eve"},
        payload | {"n": 4},
        payload | {"n": "[erased]"},
        payload | {"more": "[erased]"},
        {"n": 3, "deep": payload["deep"]},
        payload | {"deep": []},
        payload | {"deep": "[erased]"},
        payload | {"deep": [{"a": "x", "b": "[erased]"}]},
        "[erased]",
    ):
        assert refused(new, json.dumps(wrong)), wrong
    assert refused("UPDATE core_event SET name = '[erased]'")
    assert refused("UPDATE core_event SET subject = 'x', payload = payload")
    assert refused("DELETE FROM core_event")
    blank = payload | {"member": "[erased]", "deep": [{"a": "[erased]", "b": None}]}
    assert not refused(new, json.dumps(blank))
    assert refused(new, json.dumps(payload))
    row.refresh_from_db()
    assert row.payload == blank
    AuditEntry.objects.create(actor="a", action="b", subject="c", reason="r", at="2026-12-01T00:00Z")
    assert refused("UPDATE core_auditentry SET actor = '[erased]'")
    assert refused("UPDATE core_auditentry SET reason = 'other'")
    assert not refused("UPDATE core_auditentry SET reason = '[erased]'")


def test_the_command_does_the_same(traces: Traces, tmp_path: Path) -> None:
    file = tmp_path / "data.zip"
    call_command("person", EMAIL, "--export", str(file))
    assert zipfile.ZipFile(file).namelist()[0] == "personal-data.json"
    call_command("person", EMAIL, "--erase", "--reason", "asked by letter")
    assert not Order.objects.filter(erased_at=None).exists()
    with pytest.raises(CommandError, match="Nothing is kept"):
        call_command("person", EMAIL, "--erase", "--reason", "again")
    assert set(AuditEntry.objects.filter(action__startswith="person").values_list("actor", flat=True)) == {
        "person"
    }


@pytest.mark.usefixtures("shop")
def test_after_a_restore_the_marks_find_whom_to_erase_again(tmp_path: Path) -> None:
    erased, other = buyers.cancelled(buyers.buys()), buyers.cancelled(scenario.order())
    erase(staff("owner", *MAY))
    listed = StringIO()
    call_command("erase_again", "--list", stdout=listed)
    # As a backup from before has it.
    Order.objects.filter(pk=erased.pk).update(
        contact_email=EMAIL, contact_name=NAME, mail_to=EMAIL, erased_at=None
    )
    file = tmp_path / "marks"
    file.write_text(f"{listed.getvalue()}person:of-somebody-else\n")
    told = StringIO()
    call_command("erase_again", "--marks", str(file), stdout=told)
    assert "1 of 1 erased; 2 marks read." in told.getvalue()
    assert EMAIL.lower() not in told.getvalue().lower()
    assert [Order.objects.get(pk=row.pk).contact_name for row in (erased, other)] == ["[erased]", "Ada"]
    decided = Order.objects.filter(pk=other.pk)
    decided.update(status="active", contact_email=EMAIL)
    with pytest.raises(CommandError, match="Not all could be erased"):
        call_command("erase_again", "--marks", str(file), stdout=told)
