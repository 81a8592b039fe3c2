"""What a form cannot do: the right status, a sentence beside the field, nothing lost and nothing held."""

import re
from datetime import timedelta
from typing import Any

import asyncssh
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from billing.models import ChainState, DepositAddress, PaymentRequest
from catalog.models import Image, Lot
from core import clock
from fleet.models import Card, Hold
from orders.models import Order, Quote
from tests import scenario
from tests.shop.conftest import configure, order_form

pytestmark = pytest.mark.django_db

HUGE = str(10**30)


def errors_of(html: str, field: str) -> str:
    """What stands beside a field, or above the form for an empty name."""
    if not field:
        found = re.search(r'class="error-summary.*?</div>', html, re.DOTALL)
        return found[0] if found else ""
    found = re.search(rf'<div id="id_{field}_error">(.*?)</div>', html, re.DOTALL)
    return found[1] if found else ""


@pytest.mark.parametrize(
    ("changes", "status", "field", "words"),
    [
        ({"lots": "0"}, 400, "lots", "between 1 and"),
        ({"lots": "-1"}, 400, "lots", "between 1 and"),
        ({"lots": str(10**12)}, 400, "lots", "between 1 and"),
        ({"lots": HUGE}, 400, "lots", "between 1 and"),
        ({"lots": "9" * 5000}, 400, "lots", "whole number"),
        ({"lots": "x"}, 400, "lots", "whole number"),
        ({"lots": "9"}, 422, "lots", "up to 16 cards"),
        ({"days": "4"}, 400, "days", "This term is not offered"),
        ({"days": HUGE}, 400, "days", "This term is not offered"),
        ({"days": "-3"}, 400, "days", "This term is not offered"),
        ({"days": ""}, 400, "days", "required"),
        ({"lot": "no-such-lotx1"}, 422, "lot", "not on sale"),
        ({"lot": "Robert'); DROP"}, 400, "lot", "code of lower-case"),
        ({"lot": "x\x00y"}, 400, "lot", "ull"),
        ({"image": "pt-cu124"}, 422, "image", "no kernels for sm_100"),
        ({"image": "pt-rocm64"}, 422, "image", "made for ROCm"),
        ({"image": "nothing"}, 422, "image", "not on offer"),
        ({"option_nvme-extra": "31"}, 400, "option_nvme-extra", "between 1 and 30"),
        ({"option_nvme-extra": "-1"}, 400, "option_nvme-extra", "between 1 and 30"),
        ({"option_no-such": "1"}, 422, "", "no such option"),
        ({"country": "XX"}, 400, "country", "not known"),
        ({"kind": "robot"}, 400, "kind", "either consumer or business"),
        ({"vat_id": "DE123456789"}, 400, "vat_id", "belongs to a business"),
        ({"kind": "business", "vat_id": "!!"}, 400, "vat_id", "4 to 16 letters"),
        ({"start": "chosen"}, 400, "start_date", "needs a day and an hour"),
        (
            {"start": "chosen", "start_date": "2020-01-01", "start_hour": "5"},
            422,
            "start_date",
            "in the past",
        ),
        ({"start": "chosen", "start_date": "never", "start_hour": "5"}, 400, "start_date", "valid date"),
        ({"start": "chosen", "start_date": "9999-12-31", "start_hour": "23"}, 422, "start_date", "ahead"),
        (
            {"start": "chosen", "start_date": "2030-01-01", "start_hour": "24"},
            400,
            "start_hour",
            "valid choice",
        ),
    ],
)
def test_the_configurator_names_the_field(
    buyer: Client, changes: dict[str, str], status: int, field: str, words: str
) -> None:
    answer = buyer.post("/en/catalog/b200-180/", configure(**changes))
    html = answer.content.decode()
    assert answer.status_code == status
    assert words in errors_of(html, field)
    assert not Quote.objects.exists()


def test_a_start_too_soon_is_refused_and_one_far_enough_is_taken(buyer: Client) -> None:
    soon = clock.now() + timedelta(hours=2)
    values = {"start": "chosen", "start_date": soon.date().isoformat(), "start_hour": str(soon.hour)}
    refused = buyer.post("/en/catalog/b200-180/", configure(**values))
    assert refused.status_code == 422
    assert "hours ahead" in errors_of(refused.content.decode(), "start_date")
    later = clock.now() + timedelta(days=2)
    values = {"start": "chosen", "start_date": later.date().isoformat(), "start_hour": "7"}
    assert buyer.post("/en/catalog/b200-180/", configure(**values)).status_code == 303
    assert Quote.objects.get().starts_at.hour == 7  # type: ignore[union-attr]


def test_what_was_typed_is_still_there_after_a_refusal(buyer: Client) -> None:
    html = buyer.post(
        "/en/catalog/b200-180/", configure(lots="3", days="30", image="pt-cu124", vat_id="A<b>")
    ).content.decode()
    assert 'name="lots" value="3"' in html
    assert re.search(r'name="days" value="30" required checked', html)
    assert "A&lt;b&gt;" in html
    assert "A<b>" not in html


DSA = "ssh-dss AAAAB3NzaC1kc3MAAACBAPz9V weak"


def _weak_rsa() -> str:
    return asyncssh.generate_private_key("ssh-rsa", key_size=1024).export_public_key("openssh").decode()


def _private() -> str:
    return asyncssh.generate_private_key("ssh-ed25519").export_private_key("openssh").decode()


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"accept_terms": ""}, "accept_terms", "must be accepted"),
        ({"name": ""}, "name", "required"),
        ({"name": "A\x00da"}, "name", "ull"),
        ({"name": "A" * 10_000}, "name", "longer than 200"),
        ({"name": "Ada\x07"}, "name", "control character"),
        ({"email": "ada"}, "email", "Mail cannot be sent"),
        ({"email": "ada@example.com\nBcc: x@example.org"}, "email", "Mail cannot be sent"),
        ({"email": "ж@example.com"}, "email", "Mail cannot be sent"),
        ({"email": "a" * 300 + "@example.com"}, "email", "Mail cannot be sent"),
        ({"company": "x" * 10_000}, "company", "longer than 200"),
        ({"ssh_keys": ""}, "ssh_keys", "At least one"),
        ({"ssh_keys": "hello"}, "ssh_keys", "Line 1 is not a public key"),
        ({"ssh_keys": DSA}, "ssh_keys", "too weak"),
        ({"ssh_keys": "ssh-ed25519 AAAA"}, "ssh_keys", "broken"),
        ({"pay_with": "local:DAI"}, "pay_with", "not offered"),
        ({"pay_with": "mars:USDC"}, "pay_with", "not offered"),
        ({"pay_with": ""}, "pay_with", "required"),
    ],
)
def test_the_order_form_names_the_field(
    buyer: Client, changes: dict[str, str], field: str, words: str
) -> None:
    quote = scenario.quote()
    answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(**changes))
    assert 400 <= answer.status_code <= 503
    assert words in errors_of(answer.content.decode(), field)
    assert not Order.objects.exists()
    assert not Hold.objects.exists()
    assert not PaymentRequest.objects.exists()


def test_bad_keys_are_named_and_a_private_one_is_not_kept(buyer: Client) -> None:
    quote = scenario.quote()
    good = scenario.new_key_line()
    for keys, words in (
        (f"{good}\n{good}", "repeats a key"),
        (f'command="sh" {good}', "options before it are not accepted"),
        (_weak_rsa(), "too weak"),
        ("\n".join(scenario.new_key_line() for _ in range(100)), "keys are possible"),
    ):
        html = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(ssh_keys=keys)).content.decode()
        assert words in errors_of(html, "ssh_keys")
    answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(ssh_keys=_private()))
    assert "This is a private key" in errors_of(answer.content.decode(), "ssh_keys")
    assert not Order.objects.exists()


def test_a_key_file_counts_as_typed(buyer: Client) -> None:
    quote = scenario.quote()
    upload = SimpleUploadedFile("id.pub", scenario.new_key_line().encode())
    answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(ssh_keys="", ssh_key_file=upload))
    assert answer.status_code == 303
    assert len(Order.objects.get().ssh_keys) == 1


def test_a_file_that_is_no_text_is_refused(buyer: Client) -> None:
    quote = scenario.quote()
    upload = SimpleUploadedFile("id.pub", b"\x00\xff\xfe" * 500)
    answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(ssh_keys="", ssh_key_file=upload))
    assert answer.status_code == 422
    assert "not a public key" in errors_of(answer.content.decode(), "ssh_keys")


def _expire(quote: Quote) -> None:
    moment = clock.now()
    Quote.objects.filter(pk=quote.pk).update(
        created_at=moment - timedelta(hours=1), expires_at=moment - timedelta(seconds=1)
    )


def _withdraw_lot(quote: Quote) -> None:
    Lot.objects.filter(pk=quote.lot_id).update(on_sale=False)


def _withdraw_image(quote: Quote) -> None:
    Image.objects.filter(pk=quote.image_id).update(on_sale=False)


def _break_cards(quote: Quote) -> None:
    Card.objects.filter(node__accelerator_id=quote.lot.accelerator_id).update(healthy=False)


def _empty_pool(quote: Quote) -> None:
    DepositAddress.objects.update(status="skipped")


def _hide_network(quote: Quote) -> None:
    ChainState.objects.update(offered=False)


@pytest.mark.parametrize(
    ("happens", "status", "words"),
    [
        (_expire, 422, "expired"),
        (_withdraw_lot, 422, "This lot was withdrawn meanwhile"),
        (_withdraw_image, 422, "This environment was withdrawn meanwhile"),
        (_break_cards, 409, "No"),
        (_empty_pool, 503, "No deposit address is ready"),
        (_hide_network, 503, "not available"),
    ],
)
def test_what_changed_since_the_quote_is_said(buyer: Client, happens: Any, status: int, words: str) -> None:
    quote = scenario.quote()
    happens(quote)
    answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form())
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert not Order.objects.exists()
    assert not Hold.objects.exists()


def test_two_unpaid_orders_are_the_limit_of_a_browser(buyer: Client) -> None:
    for _ in range(2):
        quoted = buyer.post("/en/catalog/b200-180/", configure())
        assert buyer.post(f"{quoted['Location']}order/", order_form()).status_code == 303
    quoted = buyer.post("/en/catalog/b200-180/", configure())
    answer = buyer.post(f"{quoted['Location']}order/", order_form())
    assert answer.status_code == 429
    assert "already hold cards" in errors_of(answer.content.decode(), "")
    assert Order.objects.count() == 2


def test_the_form_sent_twice_lands_on_the_one_order(buyer: Client) -> None:
    quoted = buyer.post("/en/catalog/b200-180/", configure())
    values = order_form()
    first = buyer.post(f"{quoted['Location']}order/", values)
    second = buyer.post(f"{quoted['Location']}order/", values)
    assert (first.status_code, second.status_code) == (303, 303)
    assert first["Location"] == second["Location"]
    assert Order.objects.count() == Hold.objects.count() == 1


def test_a_used_quote_shows_its_order_to_nobody_else(buyer: Client) -> None:
    quoted = buyer.post("/en/catalog/b200-180/", configure())
    placed = buyer.post(f"{quoted['Location']}order/", order_form())
    own = buyer.get(quoted["Location"]).content.decode()
    assert placed["Location"] in own
    stranger = Client()
    answer = stranger.post(f"{quoted['Location']}order/", order_form())
    assert answer.status_code == 409
    for html in (answer.content.decode(), stranger.get(quoted["Location"]).content.decode()):
        assert "already used" in html
        assert placed["Location"] not in html
        assert Order.objects.get().public_id not in html


@pytest.mark.parametrize("value", ["0", "-1", HUGE, "x"])
def test_the_filters_of_the_catalogue_name_the_field(buyer: Client, value: str) -> None:
    answer = buyer.get("/en/catalog/", {"min_memory_gb": value})
    assert answer.status_code == 400
    assert errors_of(answer.content.decode(), "min_memory_gb")


def test_the_filters_work(buyer: Client) -> None:
    html = buyer.get(
        "/en/catalog/", {"min_memory_gb": "180", "stack": "ROCm", "vendor": "AMD"}
    ).content.decode()
    assert "MI300X" in html
    assert "B200" not in html
    assert buyer.get("/en/catalog/", {"stack": "Metal"}).status_code == 400


def test_unknown_is_shown_and_what_is_not_sold_too(buyer: Client) -> None:
    html = buyer.get("/en/catalog/").content.decode()
    assert "not found" in html
    assert "Not on sale" in html
    page = buyer.get("/en/catalog/mi355x-288/")
    assert page.status_code == 200
    assert "Not on sale" in page.content.decode()
    sent = buyer.post("/en/catalog/mi355x-288/", configure(lot="mi355x-288x1"))
    assert sent.status_code == 422


def test_the_live_total_says_the_sum_or_why_not(buyer: Client) -> None:
    html = buyer.get("/en/catalog/b200-180/total/", configure(days="7")).content.decode()
    assert "2,028.00" in html
    assert "<html" not in html
    html = buyer.get("/en/catalog/b200-180/total/", configure(lots="0")).content.decode()
    assert "between 1 and" in html
    assert not Quote.objects.exists()
