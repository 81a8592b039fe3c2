"""S11: a term over a change of the clocks is days of 24 hours; whoever names its end names the same second."""

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from core import clock, outbox
from core.models import Event, OutgoingMail
from fleet.models import Lease, SimulatedMachine
from fleet.periods import turnaround
from fleet.selectors import access_of_order, is_open
from fleet.services.reminders import sweep_reminders
from fleet.services.sweep import sweep_leases
from partners.models import PartnerOrder
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from tests import scenario, terms
from tests.core.desk import address, staff
from tests.partners.ordering import Api

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")
SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def shop(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    terms.take_logins_for_good(monkeypatch)


@pytest.mark.parametrize(
    ("begins", "days", "ends", "berlin", "shown"),
    [
        (
            datetime(2027, 3, 25, 11, tzinfo=UTC),
            7,
            datetime(2027, 4, 1, 11, tzinfo=UTC),
            "12:00 13:00",
            "1 Apr 2027, 11:00 UTC",
        ),
        (
            datetime(2027, 10, 29, 10, tzinfo=UTC),
            3,
            datetime(2027, 11, 1, 10, tzinfo=UTC),
            "12:00 11:00",
            "1 Nov 2027, 10:00 UTC",
        ),
    ],
    ids=["spring", "autumn"],
)
def test_s11_everybody_names_the_same_end(
    begins: datetime, days: int, ends: datetime, berlin: str, shown: str
) -> None:
    assert f"{begins.astimezone(BERLIN):%H:%M} {ends.astimezone(BERLIN):%H:%M}" == berlin
    clock.skip(begins - timedelta(hours=8) - clock.now())
    scenario.open_shop()
    row = scenario.quote(days=days, starts_at=begins)
    assert json.loads(row.document)["starts_at"] == f"{begins:%Y-%m-%dT%H:%M:%SZ}"
    order = scenario.order(row)
    partner = make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")
    PartnerOrder.objects.create(order=order, partner=partner)
    scenario.pay(order)
    clock.skip(begins - clock.now())
    terms.work()
    lease = Lease.objects.get(order_ref=order.public_id)
    assert lease.ends_at is not None
    assert lease.ready_at is not None
    # The real clock runs on beside the product's: access opened some moments after the start.
    late = lease.ready_at - begins
    assert timedelta(0) <= late < timedelta(minutes=1)
    assert lease.ends_at == ends + late
    assert {r.period.upper for r in lease.hold.reservations.all()} == {lease.ends_at + turnaround()}
    told = Event.objects.get(name="lease.ready", order_ref=order.public_id).payload["ends_at"]
    assert datetime.fromisoformat(told) == lease.ends_at
    assert SimulatedMachine.objects.get(lease_id=lease.pk).ends_at >= lease.ends_at
    ready_mail = OutgoingMail.objects.get(key__endswith=":ready")
    assert shown.replace(", ", " at ") in ready_mail.text
    url = f"/en/orders/{order.token}/"
    assert shown.replace(", ", " at ").replace(" UTC", "") in Client().get(url).content.decode()
    api = Api(make_key(partner_id=partner.pk, actor="test")[1])
    for answer in (
        api.get(f"orders/{order.public_id}").json()["lease"],
        api.get(f"orders/{order.public_id}/access").json(),
    ):
        assert datetime.fromisoformat(answer["ends_at"]) == lease.ends_at.replace(microsecond=0)
    of_staff = staff("ada", "fleet.view_lease").get(address(lease)).content.decode()
    assert f"{lease.ends_at:%Y-%m-%d %H:%M:%S} UTC" in of_staff
    # Half an hour of wall clock more or less would pass over the change: the reminder counts real hours.
    clock.skip(lease.ends_at - timedelta(hours=24) + SECOND - clock.now())
    sweep_reminders()
    outbox.drain()
    (reminder,) = OutgoingMail.objects.filter(key__contains=":reminder-24h-")
    assert shown.replace(", ", " at ") in reminder.subject
    clock.skip(lease.ends_at - 20 * SECOND - clock.now())
    sweep_leases()
    assert access_of_order(order.public_id) is not None
    assert is_open(lease, clock.now())
    clock.skip(lease.ends_at - clock.now())
    assert access_of_order(order.public_id) is None
    assert not is_open(lease, clock.now())
    terms.work()
    lease.refresh_from_db()
    assert (lease.status, lease.end_reason) == ("closed", "term_over")
