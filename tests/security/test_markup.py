"""XSS: a marked text in every column of every table, and no page, mail or table in which it is anything but text."""

import json
from typing import Any

import pytest
from django.contrib import admin
from django.core.serializers.json import DjangoJSONEncoder
from django.template import Engine
from django.test import Client
from django.urls import reverse

from core import decisions
from core.mail import queue_mail
from core.mail_html import html_of
from core.models import AuditEntry, Decision, Event, OutgoingMail
from orders.models import Order
from orders.services import notify
from partners.models import PartnerOrder
from shop import kept
from tests.core.desk import staff
from tests.desk.every_kind import FACTS, open_one
from tests.order_states import ORDER_STATES, open_shop_for_states
from tests.security.marks import Reader, fill, mark, marked
from tests.security.world import World, add_sides
from tests.terms import lease_of

# Structures of texts, with a number of their own.
FACTS_OF_DECISIONS, PAYLOADS, METADATA, AUDITED, KEY_COMMENT = 1, 2, 3, 4, 5
# What people type, and staff after them: each is drawn somewhere, or this test would say nothing of it.
TYPED = {
    "billing.Refund.note",
    "catalog.Accelerator.name",
    "catalog.Accelerator.vendor",
    "catalog.Image.description",
    "catalog.Image.name",
    "catalog.Option.description",
    "catalog.Option.name",
    "catalog.Term.meant_for",
    "core.AuditEntry.reason",
    "core.Decision.reason",
    "core.OutgoingMail.subject",
    "core.OutgoingMail.text",
    "fleet.AccessKey.comment",
    "fleet.AccessKey.member",
    "fleet.Card.note",
    "fleet.Lease.last_error",
    "fleet.Node.name",
    "fleet.Node.note",
    "fleet.Node.site",
    "orders.Order.contact_company",
    "orders.Order.contact_name",
    "partners.ApiKey.note",
    "partners.Member.name",
    "partners.Partner.name",
    "partners.WebhookEndpoint.note",
}
# States of an order whose pages say different things about it.
STATES = ("awaiting", "late_offered", "late_delivery", "degraded", "ended", "refund_needs_address", "over")


class Drawn:
    """What was looked at: faults, and which marks were seen as text."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.text: list[str] = []

    def look(self, name: str, html: str) -> None:
        reader = Reader(html)
        self.faults += [f"{name}: {fault}" for fault in reader.broken]
        self.text += reader.text

    def get(self, client: Client, path: str) -> None:
        answer = client.get(path)
        assert answer.status_code < 500 or path == "/readyz", path  # nobody works for this shop
        if answer.streaming:
            return
        if answer.get("Content-Type", "").startswith("text/html"):
            self.look(path, answer.content.decode())
        elif b"<xm" in answer.content:
            # What is no page says so, and no browser may think otherwise.
            assert answer["X-Content-Type-Options"] == "nosniff", path


@pytest.fixture
def orders(db: None, monkeypatch: pytest.MonkeyPatch) -> list[Order]:
    open_shop_for_states(monkeypatch)
    return [ORDER_STATES[name]() for name in STATES]


def write_structures(order: Order) -> None:
    """Facts of every kind of decision, an event, an entry of the audit, and what a partner keeps beside an order."""
    Decision.objects.all().delete()
    lease = lease_of(order)
    for kind in FACTS:
        row = open_one(kind, order, lease)
        Decision.objects.filter(pk=row.pk).update(facts=marked(row.facts, FACTS_OF_DECISIONS))
    Event.objects.create(
        name="lease.login",
        subject=f"lease:{lease.pk}",
        order_ref=order.public_id,
        payload=marked({"fingerprint": "x", "member": "x", "network": "x"}, PAYLOADS),
        at=order.placed_at,
    )
    AuditEntry.objects.create(
        actor="anna",
        action="order.cancel",
        subject="order:1",
        before=marked({"was": ["x"]}, AUDITED),
        at=order.placed_at,
    )
    PartnerOrder.objects.update(metadata={mark(METADATA): mark(METADATA)})
    for one in Order.objects.all():
        one.ssh_keys = [key | {"comment": mark(KEY_COMMENT)} for key in one.ssh_keys]
        one.save(update_fields=["ssh_keys"])


def look_at_mails(drawn: Drawn, order: Order) -> None:
    """Those that are there, and new ones about an order whose every text is marked."""
    lease = lease_of(order)
    OutgoingMail.objects.exclude(order_ref="").delete()
    notify.failed(order)
    notify.no_capacity(order)
    notify.cancelled(order, paid=True)
    notify.ended(order, lease)
    notify.late(order, lease, until=order.placed_at)
    assert OutgoingMail.objects.count() >= 5
    for row in OutgoingMail.objects.all():
        assert "\n" not in row.subject
        drawn.look(f"mail {row.key}", html_of(subject=row.subject, text=row.text, language="en"))


def test_no_text_of_anybody_is_ever_markup(orders: list[Order], monkeypatch: pytest.MonkeyPatch) -> None:
    world: World = add_sides()
    order = world.mine.order
    decisions.open_decision(kind="mail_failed", subject="mail:1", facts={"to": "x"})
    queue_mail(key="k", to="a@b.example", language="en", subject="s", text="t")
    write_structures(order)
    columns = fill()
    kept.forget()
    drawn = Drawn()
    everybody = world.mine.member(staff("chief", superuser=True))
    for path in world.addresses():
        drawn.get(everybody, path)
    for one in orders:
        page = f"/en/orders/{one.token}/"
        for part in ("", "live/", "keys/", "export/", "problem/", "end-early/"):
            drawn.get(everybody, page + part)
    for model in admin.site._registry:
        row: Any = model._default_manager.first()
        if row is not None:
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            drawn.get(everybody, reverse(f"{name}_change", args=[row.pk]))
    for found in Decision.objects.all()[:3]:
        drawn.get(everybody, f"/admin/desk/decisions/{found.pk}/note/")
    look_at_mails(drawn, Order.objects.get(pk=order.pk))

    assert drawn.faults == []
    whole = "\n".join(drawn.text)
    seen = {name for number, name in columns.items() if f"<xm {number}>" in whole}
    assert TYPED - seen == set()
    assert {
        number
        for number in (FACTS_OF_DECISIONS, PAYLOADS, METADATA, AUDITED, KEY_COMMENT)
        if f"<xm {number}>" not in whole
    } <= {KEY_COMMENT, METADATA}
    # Control: without escaping the same pages are broken, and it is seen.
    monkeypatch.setattr(Engine.get_default(), "autoescape", False)
    for path in (f"/en/orders/{order.token}/keys/", "/admin/", "/en/partner/"):
        bare = Drawn()
        bare.get(everybody, path)
        assert bare.faults, path


@pytest.mark.parametrize(
    ("html", "is_broken"),
    [
        (f'<p title="{mark(7)}">', True),
        (f"<p>{mark(7)}</p>", True),
        (f"<script>var a = '{mark(7)}'</script>", True),
        ('<a href=" JavaScript:alert(1)">x</a>', True),
        ("<p title='&#x27;&quot;&gt;&lt;xm 7&gt;'>&lt;xm 7&gt;</p>", False),
        (f"<script type=x>{json.dumps('&lt;xm 7&gt;', cls=DjangoJSONEncoder)}</script>", False),
    ],
)
def test_control_the_reader_tells_markup_from_text(html: str, is_broken: bool) -> None:
    assert bool(Reader(html).broken) == is_broken
