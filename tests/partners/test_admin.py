"""Staff make and change partners by form, and press the buttons of people, keys and webhooks."""

import pytest
from django.test import Client
from django.urls import reverse

from core.models import AuditEntry
from partners.models import ApiKey, Member, Partner, WebhookDelivery, WebhookEndpoint
from partners.services.change_endpoint import add_endpoint
from partners.services.make_key import make_key
from tests.core.desk import address, press, said, save, staff

pytestmark = pytest.mark.django_db
FORM = {
    "name": "Acme",
    "slug": "acme",
    "mail": "api@acme.example",
    "mail_language": "de",
    "hold_orders": "20",
    "hold_cards": "64",
    "active": "on",
    "members-TOTAL_FORMS": "0",
    "members-INITIAL_FORMS": "0",
    "keys-TOTAL_FORMS": "0",
    "keys-INITIAL_FORMS": "0",
}


@pytest.fixture
def chief() -> Client:
    return staff("chief", superuser=True)


def test_a_partner_is_made_and_changed_with_a_record(chief: Client) -> None:
    response = chief.post(reverse("admin:partners_partner_add"), FORM)
    assert response.status_code == 302
    partner = Partner.objects.get()
    assert partner.created_at is not None
    save(chief, partner, **FORM | {"slug": "other", "hold_cards": "128"})
    partner.refresh_from_db()
    assert (partner.slug, partner.hold_cards) == ("acme", 128)
    entry = AuditEntry.objects.get(action="partner.change")
    assert (entry.before["hold_cards"], entry.after["hold_cards"]) == ("64", "128")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hold_orders", "-1"),
        ("hold_cards", "2147483648"),
        ("hold_cards", "1" + "0" * 30),
        ("mail", "no address"),
        ("slug", "a b"),
        ("name", "a\x00b"),
        ("mail_language", "xx"),
    ],
)
def test_what_cannot_be_is_refused_by_the_form(chief: Client, field: str, value: str) -> None:
    response = chief.post(reverse("admin:partners_partner_add"), FORM | {field: value})
    assert response.status_code == 200
    assert response.context["adminform"].form.errors[field]
    assert not Partner.objects.exists()


def test_staff_add_people_and_switch_them_off(chief: Client, partner: Partner) -> None:
    fields = {"name": "Ada", "mail": "ada@acme.example", "language": "de"}
    assert said(press(chief, partner, "add-member", **fields))
    member = Member.objects.get()
    assert (member.mail, member.language, member.partner) == ("ada@acme.example", "de", partner)
    again = press(chief, partner, "add-member", **fields | {"mail": "ADA@acme.example"})
    assert again.context["form"].errors["mail"]
    press(chief, member, "off")
    member.refresh_from_db()
    assert member.active is False
    assert "already done" in said(press(chief, member, "off"))[-1]
    press(chief, member, "on")
    assert Member.objects.get().active
    actions = AuditEntry.objects.filter(actor="chief").values_list("action", flat=True)
    assert set(actions) == {"member.add", "member.off", "member.on"}


def test_staff_make_and_rotate_keys_whose_text_is_shown_once(chief: Client, partner: Partner) -> None:
    made = press(chief, partner, "make-key", "for the till", scopes=["webhooks"], days="30")
    key = ApiKey.objects.get()
    assert (key.scopes, key.made_by, key.note) == (["webhooks"], "chief", "for the till")
    assert key.expires_at is not None
    assert made.context["shown_once"].startswith(key.prefix)
    rotated = press(chief, key, "rotate", overlap_hours="2")
    new = ApiKey.objects.get(replaces=key)
    assert rotated.context["shown_once"].startswith(new.prefix)
    assert rotated.context["shown_once"] not in chief.get(address(new)).content.decode()
    assert "has been rotated" in said(press(chief, key, "rotate", overlap_hours="2"))[-1]


def test_staff_press_the_buttons_of_an_endpoint(chief: Client, partner: Partner) -> None:
    endpoint = add_endpoint(partner_id=partner.pk, url="https://hooks.example.com/", actor="test")
    for action, status in (("pause", "paused"), ("resume", "active"), ("test", "active")):
        press(chief, endpoint, action)
        endpoint.refresh_from_db()
        assert endpoint.status == status
    assert "0" not in said(press(chief, endpoint, "redeliver"))[-1]
    page = chief.get(address(endpoint)).content.decode()
    assert endpoint.secret not in page
    assert "hooks.example.com" in page
    delivery = WebhookDelivery.objects.get()
    assert "sent once" in said(press(chief, delivery, "redeliver"))[-1]
    press(chief, endpoint, "delete")
    assert WebhookEndpoint.objects.get().status == "deleted"
    told = AuditEntry.objects.filter(actor="chief").values_list("action", "reason")
    assert {action for action, _reason in told} == {
        f"webhook.{verb}" for verb in ("pause", "resume", "test", "redeliver_missed", "delete")
    }
    assert all(reason for _action, reason in told)


def test_who_may_only_look_presses_nothing(partner: Partner) -> None:
    make_key(partner_id=partner.pk, actor="test")
    looker = staff("looker", "partners.view_partner", "partners.view_apikey")
    assert press(looker, partner, "make-key", scopes=["webhooks"]).status_code == 403
    assert press(looker, ApiKey.objects.get(), "rotate", overlap_hours="1").status_code == 403
    assert ApiKey.objects.count() == 1
