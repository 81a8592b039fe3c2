"""S38 and S45: what people type never shapes a mail, and an address is mailed or refused, never lost."""

import smtplib
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from django.core import mail as transport
from django.core.mail.backends.base import BaseEmailBackend
from django.test import Client
from pytest_django import Settings

from core import mail, outbox
from core.errors import Invalid
from core.models import Decision, OutgoingMail
from orders.contact import clean_email
from orders.models import Order
from tests import scenario
from tests.shop.conftest import configure, order_form

pytestmark = pytest.mark.django_db


def _order_of(buyer: Client, **contact: Any) -> Any:
    quoted = buyer.post("/en/catalog/b200-180/", configure(days="7"))
    return buyer.post(f"{quoted['Location']}order/", order_form(**contact))


def _parsed(number: int) -> EmailMessage:
    raw = transport.outbox[number].message().as_bytes()
    return message_from_bytes(raw, policy=policy.default)


EVIL = "Ada\r\nBcc: x@example.org\u2028Иванова"


@pytest.mark.parametrize("field", ["name", "company"])
def test_s38_a_line_break_in_a_contact_is_one_line_everywhere(buyer: Client, field: str) -> None:
    answer = _order_of(buyer, **{field: EVIL})
    assert answer.status_code == 303
    order = Order.objects.get()
    assert getattr(order, f"contact_{field}") == "Ada Bcc: x@example.org Иванова"
    scenario.add_node("b200-more", "b200-180", 8)
    for number in range(5):
        scenario.order(mail_to=f"buyer{number}@example.com", mail_language="ru")
    outbox.drain()
    for pk in mail.due_ids():
        assert mail.send_one(pk) is True
    assert len(transport.outbox) == 6
    assert [sent.recipients() for sent in transport.outbox] == [["ada@example.com"]] + [
        [f"buyer{number}@example.com"] for number in range(5)
    ]
    for number in range(6):
        found = _parsed(number)
        assert found["Bcc"] is None
        assert "\n" not in found["Subject"]
        assert found.get_content_type() == "multipart/alternative"
        assert [part.get_content_type() for part in found.iter_parts()] == ["text/plain", "text/html"]


def test_s38_a_contact_of_300_characters_is_refused_by_name(buyer: Client) -> None:
    answer = _order_of(buyer, name="Я" * 300)
    assert answer.status_code == 400
    assert 'id="id_name_error"' in answer.content.decode()
    assert not Order.objects.exists()


def test_s38_a_subject_that_a_translation_ends_with_a_break_is_one_line() -> None:
    row = mail.queue_mail(
        key="k", to="a@example.com", language="ru", subject="Заказ 1\u2029: оплачен\n", text="t"
    )
    assert row.subject == "Заказ 1 : оплачен"
    assert mail.send_one(row.pk) is True
    assert _parsed(0)["Subject"] == "Заказ 1 : оплачен"
    assert _parsed(0)["Content-Language"] == "ru"


@pytest.mark.parametrize(
    ("typed", "mailed"),
    [
        ("user@bücher.example", "user@xn--bcher-kva.example"),
        ("user@xn--bcher-kva.example", "user@xn--bcher-kva.example"),
        ("User@BÜCHER.Example", "User@xn--bcher-kva.example"),
        (" ada+x@example.com ", "ada+x@example.com"),
        ("почта@пример.example", None),
        ("name@host.example\u202c", None),
        ("name@host.example\u200f", None),
        ("name\u202e@host.example", None),
        ("user@[192.168.0.1]", None),
        ("user@[IPv6:::1]", None),
        ("user@example.com.", None),
        ("user@straße.example", None),
        ("user@localhost", None),
        ("a@b@example.com", None),
        ("a b@example.com", None),
        ("a@example.com, b@example.com", None),
        ("a" * 65 + "@example.com", None),
        ("a@" + "b" * 320 + ".example", None),
        ("a@example.com\r\nBcc: b@example.com", None),
    ],
)
def test_s45_an_address_is_mailed_as_it_stands_or_refused(typed: str, mailed: str | None) -> None:
    if mailed is None:
        with pytest.raises(Invalid):
            clean_email(typed, field="email")
        return
    assert clean_email(typed, field="email") == mailed
    row = mail.queue_mail(key="k", to=mailed, language="en", subject="s", text="t")
    assert mail.send_one(row.pk) is True
    assert _parsed(0)["To"] == mailed
    assert transport.outbox[0].recipients() == [mailed]


class _Refusing(BaseEmailBackend):
    code = 550

    def send_messages(self, messages: Any) -> int:
        raise smtplib.SMTPRecipientsRefused({"ada@example.com": (self.code, b"no such user")})


def test_s45_a_mail_that_never_arrives_shows_on_the_page_of_its_order(buyer: Client) -> None:
    order, other = scenario.order(), scenario.order()
    outbox.drain()
    OutgoingMail.objects.filter(order_ref=order.public_id).update(status=OutgoingMail.Status.FAILED)
    words = "Our mail does not reach you"
    assert words in buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert words not in buyer.get(f"/en/orders/{other.token}/").content.decode()


@pytest.mark.parametrize(("code", "status"), [(550, "failed"), (450, "queued")])
def test_s45_a_refusal_for_good_is_told_at_once_and_another_is_tried_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, code: int, status: str
) -> None:
    settings.EMAIL_BACKEND = f"{__name__}._Refusing"
    monkeypatch.setattr(_Refusing, "code", code)
    row = mail.queue_mail(
        key="k", to="ada@example.com", language="en", subject="s", text="t", order_ref="ord_1"
    )
    assert mail.send_one(row.pk) is False
    assert OutgoingMail.objects.get().status == status
    assert Decision.objects.filter(kind="mail_failed", order_ref="ord_1").exists() is (status == "failed")
