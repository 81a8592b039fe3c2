"""S33: looking changes nothing. HEAD is GET without its body, OPTIONS says methods, no link in a mail acts."""

import re

import pytest
from django.conf import settings as shop
from django.db import connection
from django.test import Client

from core import outbox
from core.models import OutgoingMail
from orders.services import find
from partners.services.log_in import ask_for_link
from tests.security.world import World

# What a look may write: the session of who looks, the mark that a link was shown, counters of sweeps.
_BESIDE = {"django_session", "core_sweeprun", "core_staffsession"}


def rows() -> dict[str, int]:
    """Table -> a number that changes with any row that is written, removed or changed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        )
        tables = sorted({name for (name,) in cursor.fetchall()} - _BESIDE)
        found = {}
        for table in tables:
            cursor.execute(f'SELECT coalesce(sum(hashtext(t::text)), 0), count(*) FROM "{table}" AS t')  # noqa: S608
            found[table] = hash(cursor.fetchone())
    return found


def test_s33_head_is_get_and_options_are_silent_everywhere(world: World) -> None:
    """On every address that visitors, partners and programs reach; by a browser in which a partner is logged in."""
    browser = world.mine.member()
    key = {"authorization": f"Bearer {world.mine.key_text}"}
    secrets = (world.mine.order.contact_email, world.mine.order.contact_name, world.mine.partner.mail)
    before = rows()
    for target in world.addresses(staff=False):
        headers = key if target.startswith("/api/") else None
        got, head = browser.get(target, headers=headers), browser.head(target, headers=headers)
        assert head.status_code == got.status_code, target
        assert head.content == b"", target
        assert head.get("Content-Type") == got.get("Content-Type"), target
        told = Client().options(target)
        assert told.status_code < 500, target
        assert not any(secret in told.content.decode() for secret in secrets), target
    changed = {name for name, value in rows().items() if value != before[name]}
    # A key notes when it was last used, once a minute.
    assert changed <= {"partners_apikey"}


def test_s33_no_link_of_a_mail_acts_by_being_fetched(world: World) -> None:
    """Programs of mailboxes fetch every link they see, by GET and by HEAD, before the person does."""
    ask_for_link(mail="ada@acme.example", network="10.0.0.0/24")
    find.answer(search_id=find.ask(address=world.mine.order.mail_to, prefix="10.0.0.0/24").pk)
    outbox.drain()
    links = {
        link
        for text in OutgoingMail.objects.values_list("text", flat=True)
        for link in re.findall(re.escape(shop.SITE_URL) + r"(/[^\s)>]*)", text)
    }
    assert any("/partner/login/" in link for link in links)
    assert any("/orders/" in link for link in links)
    before = rows()
    for link in sorted(links):
        assert Client().get(link).status_code == 200, link
        assert Client().head(link).status_code == 200, link
    assert rows() == before


@pytest.mark.parametrize("method", ["put", "patch", "delete", "trace"])
def test_s33_no_page_takes_another_method(db: None, method: str) -> None:
    for target in ("/en/", "/en/catalog/", "/en/orders/", "/theme/", "/language/", "/healthz"):
        answer = getattr(Client(), method)(target)
        assert answer.status_code in (403, 405), (target, answer.status_code)
