"""Staff make and change partners by form; the slug is chosen once."""

import pytest
from django.test import Client
from django.urls import reverse

from core.models import AuditEntry
from partners.models import Partner
from tests.core.desk import address, staff

pytestmark = pytest.mark.django_db
FORM = {
    "name": "Acme",
    "slug": "acme",
    "mail": "api@acme.example",
    "mail_language": "de",
    "hold_orders": "20",
    "hold_cards": "64",
    "active": "on",
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
    chief.post(address(partner), FORM | {"slug": "other", "hold_cards": "128"})
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
