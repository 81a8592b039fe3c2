"""A buyer who left traces wherever the shop keeps any, for tests of what is handed out and erased."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db import connection, transaction

from billing.invoice_data import Buyer as Billed
from billing.models import CardEvent, Invoice, Refund
from billing.services.cancel_invoice import cancel_invoice
from billing.services.money_decisions import refund_excess
from billing.services.refund_destination import confirm_destination
from billing.services.send_refund import mark_sent
from core import audit, clock, decisions, events, outbox
from core.mail import queue_mail
from core.models import Decision, OutgoingMail
from core.services.close import close_with_note
from fleet.models import AccessKey
from fleet.services.members import add_keys
from fleet.services.sweep import advance_lease
from orders.contact import Contact, clean_contact
from orders.models import Order
from orders.services import find
from orders.services.cancel import cancel
from partners.models import IdempotentRequest, PartnerOrder
from partners.services.make_partner import make_partner
from tests import cards, scenario
from tests.terms import lease_of, work

EMAIL, NAME, COMPANY = "Zephyrine.Quux@example.com", "Zephyrine Quux", "Quuxwerk & Söhne"
MEMBER, NETWORK, METADATA = "Zoltan Quince", "203.0.113.0/24", "crm-zq-4711"
WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


@dataclass(frozen=True)
class Traces:
    """The orders, and every text by which the person could be known again."""

    ended: Order
    by_card: Order
    by_partner: Order
    needles: tuple[str, ...]


def contact() -> Contact:
    return clean_contact(name=NAME, email=EMAIL, company=COMPANY, language="en")


def buys(**changes: Any) -> Order:
    values: dict[str, Any] = {"contact": contact(), "mail_to": EMAIL} | changes
    return scenario.order(**values)


def everywhere() -> Traces:
    """One order that ran and was paid too much, one by card and one by a partner that were cancelled."""
    ended = _ended()
    by_card, by_partner = _by_card(), _by_partner()
    _mails_and_reports(ended)
    keys = AccessKey.objects.filter(lease__order_ref=ended.public_id, purpose="buyer")
    return Traces(
        ended=ended,
        by_card=by_card,
        by_partner=by_partner,
        needles=(
            EMAIL.lower(),
            NAME.lower(),
            "quuxwerk",
            MEMBER.lower(),
            NETWORK,
            METADATA,
            ended.token.lower(),
            *(key.data.lower() for key in keys),
            *(key.fingerprint.lower() for key in keys),
        ),
    )


def _ended() -> Order:
    order = buys()
    scenario.pay(order, units=order.payment.crypto.due_units + 4_500_000)
    work()
    key = AccessKey.objects.filter(lease__order_ref=order.public_id, purpose="buyer").latest("pk")
    add_keys(order_ref=order.public_id, text=scenario.new_key_line(EMAIL), member=MEMBER, actor="buyer")
    with transaction.atomic():
        events.emit(
            name="lease.login",
            subject=f"lease:{key.lease_id}",
            order_ref=order.public_id,
            payload={"fingerprint": key.fingerprint, "member": MEMBER, "network": NETWORK},
        )
    _give_excess_back(order)
    lease = lease_of(order)
    lease.ready_at = clock.now() - timedelta(days=3, minutes=1)
    lease.ends_at = clock.now() - timedelta(minutes=1)
    lease.save()
    advance_lease(lease_id=lease.pk)
    outbox.drain()
    order.refresh_from_db()
    assert order.status == "ended"
    anna = User.objects.create(username="anna")
    LogEntry.objects.create(user=anna, object_id="1", object_repr=f"s -> {EMAIL}", action_flag=CHANGE)
    audit.record(actor="anna", action="lease.end", subject=f"lease:{lease.pk}", reason=f"for {NAME}")
    invoice = Invoice.objects.get(order=order, kind="invoice")
    cancel_invoice(
        invoice_id=invoice.pk,
        buyer=Billed(name=NAME, company=COMPANY, address="Zoostraße 1"),
        actor="anna",
        reason=f"{NAME} asked for the address",
    )
    return order


def _give_excess_back(order: Order) -> None:
    over = Decision.objects.get(order_ref=order.public_id, kind="payment_over")
    refund_excess(decision=over, actor="anna", reason=f"as {NAME} wishes")
    refund = Refund.objects.get(order=order)
    confirm_destination(order_id=order.public_id, refund_id=refund.pk, destination=WALLET)
    mark_sent(refund_id=refund.pk, actor="anna", reason="sent", transaction_hash=f"0x{refund.pk:064x}")
    outbox.drain()
    Refund.objects.filter(pk=refund.pk).update(
        status="verified", verified_at=clock.now(), note=f"told {EMAIL} by mail"
    )


def _by_card() -> Order:
    order = cards.order(contact=contact(), mail_to=EMAIL)
    session = cards.open_session(order)
    CardEvent.objects.create(
        event_id=f"evt_{order.pk}",
        kind="checkout.session.expired",
        session_id=session.session_id,
        livemode=False,
        body={"data": {"object": {"customer_details": {"email": EMAIL, "name": NAME}, "amount_total": 100}}},
        received_at=clock.now(),
        applied_at=clock.now(),
        next_at=clock.system_now(),
    )
    return cancelled(order)


def _by_partner() -> Order:
    partner = make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")
    order = buys(owner=partner.owner, mail_to=partner.mail, notify=Order.Notify.PARTNER)
    PartnerOrder.objects.create(order=order, partner=partner, metadata={"crm": METADATA})
    IdempotentRequest.objects.create(
        partner=partner,
        key="k",
        endpoint="POST /api/v1/orders",
        body_hash="0" * 64,
        made_at=clock.system_now(),
        token="00000000-0000-0000-0000-000000000000",
        locked_until=clock.system_now(),
        status_code=201,
        body=f'{{"id": "{order.public_id}", "contact": {{"name": "{NAME}", "email": "{EMAIL}"}}}}',
    )
    return cancelled(order)


def cancelled(order: Order) -> Order:
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="anna", reason=f"{NAME} called")
    outbox.drain()
    order.refresh_from_db()
    return order


def _mails_and_reports(order: Order) -> None:
    find.answer(search_id=find.ask(address=EMAIL, prefix=NETWORK).pk)
    lost = queue_mail(key="lost", to=EMAIL, language="en", subject="s", text=f"Hello {NAME}")
    OutgoingMail.objects.filter(pk=lost.pk).update(status="failed", last_error=f"550 {EMAIL}")
    bounced = decisions.open_decision(
        kind="mail_failed",
        subject=f"mail:{lost.pk}",
        facts={"to": EMAIL, "subject": "s", "error": f"550 {EMAIL}"},
    )
    reported = decisions.open_decision(
        kind="problem_reported",
        subject="report:1",
        order_ref=order.public_id,
        facts={"text": f"I am {NAME}, call me", "order_status": "active"},
    )
    for row in (bounced, reported):
        close_with_note(decision=row, actor="anna", reason=f"wrote to {EMAIL.upper()}")


def mentions(needles: tuple[str, ...]) -> dict[str, set[str]]:
    """Table -> which of the texts stand somewhere in its rows: every column of every table, as text."""
    found: dict[str, set[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.tables"
            " WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1"
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT lower(row_to_json(t)::text) FROM "{table}" AS t')  # noqa: S608
            text = "\n".join(row for (row,) in cursor.fetchall())
            if seen := {needle for needle in needles if needle in text}:
                found[table] = seen
    return found
