"""Mails before the end: in every language, once per kind and end, with the notice, the link and a true time."""

from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.utils import translation

from core import clock
from core.models import OutgoingMail
from fleet.models import Lease
from orders.contact import clean_contact
from orders.models import Order
from orders.services import remind
from tests import scenario
from tests.shop.states import active

pytestmark = pytest.mark.django_db
GB, MB = 10**9, 10**6


def lease_in(language: str = "en") -> tuple[Order, Lease]:
    scenario.open_shop()
    order = scenario.order(
        contact=clean_contact(name="Ada", email="ada@example.com", company="", language=language),
        mail_language=language,
    )
    scenario.pay(order)
    return order, active(order)


def tell(order: Order, lease: Lease, kind: str = "24h") -> list[OutgoingMail]:
    assert lease.ends_at is not None
    ends_at = lease.ends_at.isoformat()
    remind.reminder(order, lease, kind=kind, ends_at=ends_at)
    remind.export_window(order, lease, ends_at=ends_at)
    mails = OutgoingMail.objects.filter(order_ref=order.public_id, subject__contains="UTC")
    return list(mails.order_by("pk"))


@pytest.mark.parametrize("language", [code for code, _name in django_settings.LANGUAGES])
def test_both_mails_in_every_language_and_state_of_knowledge(language: str) -> None:
    order, lease = lease_in(language)
    assert lease.ends_at is not None
    for number, (size, rate) in enumerate([(None, None), (900 * GB, None), (900 * GB, 250 * MB)], start=1):
        lease.export_bytes, lease.export_rate_bytes_s = size, rate
        lease.ends_at += timedelta(days=1)
        lease.save()
        lease = Lease.objects.get(pk=lease.pk)
        assert lease.ends_at is not None
        mails = tell(order, lease)
        assert len(mails) == 2 * number
        for mail in mails[-2:]:
            with translation.override(language):
                assert translation.gettext("Demo: delivery is simulated on this installation.") in mail.text
            assert f"/{language}/orders/{order.token}/" in mail.text
            assert order.public_id in mail.subject
            assert f"{lease.ends_at:%H:%M} UTC" in mail.subject
            assert not [sign for sign in ("%(", "None", "&quot", "&#") if sign in mail.text + mail.subject]
            assert lease.username not in mail.text


def test_what_is_past_is_said_in_the_mail() -> None:
    order, lease = lease_in()
    assert lease.ends_at is not None
    lease.export_bytes, lease.export_rate_bytes_s = 900 * GB, 250 * MB
    lease.save()
    clock.skip(lease.ends_at - clock.now() - timedelta(minutes=59))
    for mail in tell(order, lease, "1h"):
        assert "900 GB may no longer get out in time" in mail.text
        assert "59\u00a0min were left" in mail.text or "58\u00a0min were left" in mail.text


def test_once_per_kind_and_end() -> None:
    order, lease = lease_in()
    for _time in range(3):
        assert len(tell(order, lease)) == 2
    assert len(tell(order, lease, "6h")) == 3
    assert lease.ends_at is not None
    lease.ends_at += timedelta(days=3)
    assert len(tell(order, lease)) == 5


def test_nothing_of_an_end_that_has_moved_or_of_a_lease_that_is_not_open() -> None:
    order, lease = lease_in()
    assert lease.ends_at is not None
    stale = (lease.ends_at - timedelta(days=3)).isoformat()
    remind.reminder(order, lease, kind="24h", ends_at=stale)
    remind.export_window(order, lease, ends_at=stale)
    for status in ("suspended", "ending", "closed"):
        lease.status = status
        tell(order, lease)
    lease.status = "ready"
    clock.skip(lease.ends_at - clock.now())
    assert tell(order, lease) == []
