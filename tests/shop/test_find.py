"""Find my orders: one answer for all, a mail for the owner, bounds by address and network."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.errors import TooMany
from core.models import OutgoingMail
from orders import locks
from orders.models import OrderSearch
from orders.services import find
from tests import scenario

pytestmark = pytest.mark.django_db

ADA = "ada@example.com"


def search(address: str = ADA, prefix: str = "10.0.0.0/24") -> bool:
    return find.answer(search_id=find.ask(address=address, prefix=prefix).pk)


def links() -> list[OutgoingMail]:
    return list(OutgoingMail.objects.filter(key__startswith="links:").order_by("pk"))


def age(**span: int) -> None:
    """All searches so far were that long ago."""
    for row in OrderSearch.objects.all():
        row.at -= timedelta(**span)
        row.mailed_at = row.mailed_at and row.mailed_at - timedelta(**span)
        row.save()


def test_the_owner_gets_the_links_in_his_language(shop: None) -> None:
    scenario.order()
    newest = scenario.order(mail_language="ru")
    stranger = scenario.order(mail_to="bob@example.com")
    assert search("ADA@example.com") is True
    (mail,) = links()
    assert (mail.to, mail.language) == (ADA, "ru")
    assert f"/ru/orders/{newest.token}/" in mail.text
    assert mail.text.count("/ru/orders/") == 2
    assert stranger.token not in mail.text
    assert "\n" not in mail.subject


def test_who_has_no_order_gets_nothing_and_the_page_says_the_same(shop: None) -> None:
    """The same answer, and the same work in the request: nobody learns by a clock either."""
    scenario.order()
    buyer = Client()
    seen: set[Any] = set()
    for address in (ADA, "nobody@example.com", "ada@exämple.com"):
        with CaptureQueriesContext(connection) as queries:
            answer = buyer.post("/en/orders/", {"email": address})
        page = buyer.get(answer["Location"]).content.decode()
        assert "If this address has orders, a mail with their links is on its way." in page
        assert address not in page
        kinds = tuple(query["sql"].split(" ")[0] for query in queries)
        seen.add((answer.status_code, answer["Location"], kinds))
    assert len(seen) == 1
    assert [find.answer(search_id=pk) for pk in find.unanswered()] == [True, False, False]
    assert [mail.to for mail in links()] == [ADA]


@pytest.mark.parametrize(
    "address", ["", "ada", "ada@", "почта@example.com", "a@[192.168.0.1]", "a\x00@example.com"]
)
def test_an_address_that_no_mail_reaches_is_named(shop: None, address: str) -> None:
    answer = Client().post("/en/orders/", {"email": address})
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not OrderSearch.objects.exists()


def test_one_mail_in_ten_minutes_whoever_asks(shop: None) -> None:
    scenario.order()
    assert [search(prefix=f"10.0.{n}.0/24") for n in range(3)] == [True, False, False]
    age(minutes=9)
    assert search("Ada@Example.com") is False
    age(minutes=2)
    assert search() is True
    assert len(links()) == 2


def test_a_network_may_ask_so_often_and_no_more(shop: None) -> None:
    for number in range(find.MAX_PER_PREFIX):
        find.ask(address=f"a{number}@example.com", prefix="10.0.0.0/24")
    with pytest.raises(TooMany) as caught:
        find.ask(address=ADA, prefix="10.0.0.0/24")
    assert 3590 <= (caught.value.retry_after_seconds or 0) <= 3601
    find.ask(address=ADA, prefix="10.0.1.0/24")
    refused = Client(REMOTE_ADDR="10.0.0.9").post("/en/orders/", {"email": ADA})
    assert (refused.status_code, "Retry-After" in refused) == (429, True)
    age(hours=1)
    find.ask(address=ADA, prefix="10.0.0.0/24")


def test_what_no_longer_counts_is_forgotten(shop: None) -> None:
    search()
    find.ask(address=ADA, prefix="")
    age(hours=2)
    find.forget_old()
    # What nobody answered yet is no less a question.
    assert OrderSearch.objects.get().answered_at is None


def test_each_spelling_of_a_mailbox_gets_its_own(shop: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the newest orders are what is counted, not those of the spelling that is sorted first."""
    monkeypatch.setattr(find, "MAX_LINKS", 2)
    placed = [scenario.order(mail_to=mail_to) for mail_to in ("Ada@example.com", ADA) * 2]
    assert search() is True
    by_address = {mail.to: mail.text for mail in links()}
    assert by_address.keys() == {"Ada@example.com", ADA}
    assert all(text.count("/orders/") == 1 for text in by_address.values())
    assert all(order.token in by_address[order.mail_to] for order in placed[2:])


def _answers_at_once() -> int:
    """How many mails two workers queue for two searches of one address."""

    def answer(search_id: int) -> bool:
        try:
            return find.answer(search_id=search_id)
        finally:
            connection.close()

    first, second = (find.ask(address=ADA, prefix=f"10.0.{n}.0/24").pk for n in range(2))
    with ThreadPoolExecutor(2) as threads:
        return sum(threads.map(answer, (first, second)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_locked", [True, False])
def test_two_workers_send_one_mail(monkeypatch: pytest.MonkeyPatch, is_locked: bool) -> None:
    """The control: without the lock both look before either has written."""
    scenario.open_shop()
    scenario.order()
    meeting = threading.Barrier(2, timeout=5)
    was_mailed = find._was_mailed

    def look_together(row: OrderSearch) -> bool:
        found = was_mailed(row)
        try:
            meeting.wait(timeout=0.5 if is_locked else 5)
        except threading.BrokenBarrierError:
            pass
        return found

    monkeypatch.setattr(find, "_was_mailed", look_together)
    if not is_locked:
        monkeypatch.setattr(locks, "lock_search_address", lambda address: None)
    assert _answers_at_once() == (1 if is_locked else 2)
