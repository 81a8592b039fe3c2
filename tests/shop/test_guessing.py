"""S37: nobody reads or moves an order by guessing; "none" and "not yours" are one answer."""

import re
import string
from itertools import product

import pytest
from django.test import Client

from core.models import Decision, Event
from orders import ids
from orders.models import Order
from tests import scenario
from tests.shop.states import active

pytestmark = pytest.mark.django_db

READS = ("", "live/", "problem/")
ACTS = ("claim/", "cancel/", "demo-pay/", "problem/")
NONE = "a" * 43


@pytest.fixture
def order(shop: None) -> Order:
    """Paid and open: the page has an address, a login and a mail address that a stranger might want."""
    placed = scenario.order()
    scenario.pay(placed)
    active(placed)
    placed.refresh_from_db()
    return placed


def guesses(order: Order) -> list[str]:
    """What a stranger knows or makes up: the token one sign off, in another case, cut; ids; a running number."""
    token = order.token
    return [
        token[:-1] + ("A" if token[-1] != "A" else "B"),
        token.swapcase(),
        token[:-1],
        token + "a",
        order.public_id,
        order.quote.public_id,
        str(order.pk),
        str(order.pk + 1),
        order.payment.crypto.address,
    ]


def same(body: bytes, tail: str) -> str:
    """The page without the id and the time of its request, and without the address that was asked for."""
    text = body.decode().replace(f"/orders/{tail}", "/orders/")
    return re.sub(r"[0-9a-f]{32}|<time.*?</time>", "", text)


def test_s37_reading_gives_one_answer(order: Order) -> None:
    stranger = Client()
    none = stranger.get(f"/en/orders/{NONE}/")
    assert none.status_code == 404
    for guess, part in product(guesses(order), READS):
        answer = stranger.get(f"/en/orders/{guess}/{part}")
        assert answer.status_code == 404
        assert same(answer.content, f"{guess}/{part}") == same(none.content, f"{NONE}/")
        for secret in (order.contact_email, order.contact_name, order.token, order.payment.crypto.address):
            assert secret in guess or secret not in answer.content.decode()


def test_s37_acting_gives_one_answer_and_does_nothing(order: Order) -> None:
    stranger = Client()
    values = {"text": "hello", "transaction_hash": ""}
    none = stranger.post(f"/en/orders/{NONE}/claim/", values)
    before = (Event.objects.count(), Decision.objects.count())
    assert none.status_code == 404
    for guess, part in product(guesses(order), ACTS):
        answer = stranger.post(f"/en/orders/{guess}/{part}", values)
        assert answer.status_code == 404
        assert same(answer.content, f"{guess}/{part}") == same(none.content, f"{NONE}/claim/")
    assert (Event.objects.count(), Decision.objects.count()) == before
    order.refresh_from_db()
    assert order.status == "active"


def test_s37_many_codes_find_nothing_and_change_nothing(order: Order) -> None:
    stranger = Client()
    before = Event.objects.count()
    codes = {stranger.get(f"/en/orders/{ids.page_token()}/live/").status_code for _ in range(300)}
    assert codes <= {404, 429}
    assert Event.objects.count() == before


def test_s37_a_quote_says_nothing_of_the_person_and_hides_its_order(order: Order) -> None:
    target = f"/en/quotes/{order.quote.public_id}/"
    for path in (target, f"{target}document.json", f"{target}signature.txt"):
        text = Client().get(path).content.decode()
        for secret in (order.contact_email, order.contact_name, order.token, order.public_id):
            assert secret not in text
    none = f"/en/quotes/qt_{'2' * 27}/"
    for path in (none, f"{none}document.json", f"{none}signature.txt"):
        assert Client().get(path).status_code == 404
    assert Client().post(f"{none}order/").status_code == 404


def test_s37_tokens_and_ids_hold_128_random_bits() -> None:
    """Length by alphabet, and each place takes many signs: no counter, no time, no fixed part."""
    url_safe = string.ascii_letters + string.digits + "-_"
    for make, prefix, alphabet in (
        (ids.page_token, "", url_safe),
        (ids.order_id, "ord_", "23456789ABCDEFGHJKMNPQRSTVWXYZ"),
        (ids.quote_id, "qt_", "23456789ABCDEFGHJKMNPQRSTVWXYZ"),
    ):
        made = [make().removeprefix(prefix) for _ in range(500)]
        assert len(set(made)) == 500
        assert {len(text) for text in made} == {len(made[0])}
        assert set("".join(made)) == set(alphabet)
        assert len(alphabet) ** len(made[0]) >= 2**128
        # 43 signs of base64 hold 256 bits: the last one carries four of them.
        assert all(len(set(place)) >= 16 for place in zip(*made, strict=True))


def test_s37_the_address_of_an_order_goes_to_no_other_site(order: Order) -> None:
    buyer = Client()
    answers = [buyer.get(f"/en/orders/{order.token}/{part}") for part in READS]
    answers += [buyer.post(f"/en/orders/{order.token}/{part}") for part in ACTS]
    answers += [buyer.get(f"/en/orders/{NONE}/")]
    for answer in answers:
        assert answer["Referrer-Policy"] in ("same-origin", "no-referrer")
        # The part that is asked for every few seconds may be kept to compare; it names neither person nor address.
        is_kept = answer["Cache-Control"] == "private, no-cache"
        assert is_kept or answer["Cache-Control"].endswith("no-store")
        assert not is_kept or order.payment.crypto.address not in answer.content.decode()
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', answer.content.decode())
