"""The first key of a partner, and the demo wallet, from the shell."""

import io

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from partners.models import ApiKey, Partner
from partners.selectors import key_by_text
from tests import scenario

pytestmark = pytest.mark.django_db


def key_of(*arguments: str) -> ApiKey:
    said = io.StringIO()
    call_command("make_partner_key", *arguments, stdout=said)
    found = key_by_text(said.getvalue().strip())
    assert found is not None
    return found


def test_a_key_and_another_one_for_the_same_partner() -> None:
    first = key_of("acme", "--mail", "dev@acme.example")
    second = key_of("acme", "--scope", "orders:read", "--scope", "webhooks")
    assert Partner.objects.get() == first.partner == second.partner
    assert (first.partner.slug, first.partner.mail) == ("acme", "dev@acme.example")
    assert len(first.scopes) == 4
    assert second.scopes == ["orders:read", "webhooks"]


@pytest.mark.parametrize(
    "arguments", [("acme",), ("acme", "--mail", "nobody"), ("A c", "--mail", "dev@acme.example")]
)
def test_what_no_partner_can_be_made_of(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="No such partner"):
        key_of(*arguments)
    assert not Partner.objects.exists()


def test_the_demo_wallet_pays_once_and_in_the_demo_only(settings: Settings) -> None:
    scenario.open_shop()
    order = scenario.order().public_id
    settings.DEMO = False
    with pytest.raises(CommandError, match="demo_only"):
        call_command("demo_pay", order)
    settings.DEMO = True
    call_command("demo_pay", order, stdout=io.StringIO())
    with pytest.raises(CommandError, match="already_done"):
        call_command("demo_pay", order)
    with pytest.raises(CommandError, match="not_found"):
        call_command("demo_pay", "ord_none")
