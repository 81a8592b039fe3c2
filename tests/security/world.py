"""Two orders, two partners and what belongs to each, for walks over every address in the place of others."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.test import Client

from billing.models import Invoice, Refund
from billing.services.money_decisions import refund_excess
from core import clock
from core.decisions import open_decision
from core.models import Decision
from fleet.models import AccessKey
from orders.models import Order
from partners import session as member_session
from partners.models import Partner, PartnerOrder
from partners.services.change_endpoint import add_endpoint
from partners.services.change_member import add_member
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from partners.services.send_test_event import send_test_event
from tests import scenario
from tests.anchorgpu.addresses import addresses
from tests.terms import work

NOBODY = "a" * 43
_SLUGS = {
    "slug": "b200-180",
    "en/guides/slug": "paying-in-crypto",
    "en/legal/slug": "terms",
    "action": "note",
}
# Of rows that nobody has.
NONE = {
    "token": NOBODY,
    "invoice": NOBODY,
    "text": NOBODY,
    "quote_id": "qt_" + "0" * 26,
    "order_id": "ord_" + "0" * 26,
    "key_id": "987654321",
    "refund_id": "987654321",
    "endpoint_id": "wh_" + "0" * 24,
    "delivery_id": "whd_" + "0" * 24,
    "session_id": "cs_test_" + "0" * 32,
}


@dataclass(frozen=True)
class Side:
    """An order that runs, a partner, and every value by which an address names something of theirs."""

    order: Order
    partner: Partner
    key_text: str
    member_id: int
    values: Mapping[str, str]

    def member(self, client: Client | None = None) -> Client:
        """A browser in which this partner's member is logged in."""
        client = client or Client()
        session = client.session
        session[member_session._MEMBER] = self.member_id
        session[member_session._SINCE] = clock.system_now().isoformat()
        session.save()
        return client


@dataclass(frozen=True)
class World:
    mine: Side
    theirs: Side

    def addresses(self, *, staff: bool | None = None) -> list[str]:
        """Every address, filled with what is mine; only those of staff, or only the others, where it is said."""
        return [
            target
            for target in addresses(self.mine.values)
            if staff is None or target.startswith("/admin/") == staff
        ]


def make_world() -> World:
    scenario.open_shop(b200_nodes=2)
    return add_sides()


def add_sides() -> World:
    """In a shop that is open and has room."""
    return World(mine=_side("acme"), theirs=_side("other"))


def _side(name: str) -> Side:
    order = _running_order()
    partner = make_partner(name=name.title(), slug=name, mail=f"api@{name}.example", actor="test")
    PartnerOrder.objects.create(order=order, partner=partner)
    member = add_member(
        partner_id=partner.pk, name="Ada", mail=f"ada@{name}.example", actor="test", language="en"
    )
    key, key_text = make_key(partner_id=partner.pk, actor="test")
    endpoint = add_endpoint(partner_id=partner.pk, url="https://hooks.example.com/in", actor="test")
    delivery = send_test_event(endpoint_id=endpoint.pk, actor="test")
    access = AccessKey.objects.filter(lease__order_ref=order.public_id, purpose="buyer").latest("pk")
    report = open_decision(
        kind="problem_reported", subject=f"report:{name}", order_ref=order.public_id, facts={"text": "slow"}
    )
    values = _SLUGS | {
        "token": order.token,
        "invoice": Invoice.objects.filter(order=order).latest("pk").token,
        "text": NOBODY,
        "quote_id": order.quote.public_id,
        "order_id": order.public_id,
        "key_id": str(access.pk),
        "en/partner/keys/key_id": str(key.pk),
        "refund_id": str(Refund.objects.get(order=order).pk),
        "endpoint_id": endpoint.public_id,
        "delivery_id": delivery.public_id,
        "session_id": "cs_test_" + "0" * 32,
        "decision_id": str(report.pk),
    }
    return Side(order, partner, key_text, member.pk, values)


def _running_order() -> Order:
    """Paid too much, so that there is an invoice, a login and a refund that wants an address."""
    order = scenario.order()
    scenario.pay(order, units=order.payment.crypto.due_units + 4_500_000)
    work()
    over = Decision.objects.get(order_ref=order.public_id, kind="payment_over")
    refund_excess(decision=over, actor="anna", reason="too much")
    order.refresh_from_db()
    assert order.status == "active"
    return order
