"""S26 at the pages: U+0000 in every text field, filter, address and header; nothing stored, no 500, one log line."""

import io
import json
import logging
import logging.config
from typing import Any

import pytest
import structlog
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from anchorgpu.logs import logging_settings
from billing.models import Claim
from core.models import Decision
from fleet.models import Hold
from orders.models import Order, Quote
from tests import scenario
from tests.shop.conftest import configure, order_form
from tests.shop.test_refusals import errors_of

pytestmark = pytest.mark.django_db


QUOTE_FIELDS = {
    "lot": "b200-180x2\x00",
    "lots": "1\x00",
    "days": "3\x00",
    "image": "pt\x00cu128",
    "start": "so\x00on",
    "country": "D\x00",
    "kind": "consumer\x00",
    "vat_id": "DE\x00123456789",
    "replaces": "ord_\x00" + "A" * 24,
    "option_nvme-extra": "1\x00",
}
ORDER_FIELDS = {
    "name": "A\x00da",
    "email": "ada\x00@example.com",
    "company": "\x00",
    "ssh_keys": "ssh-ed25519 \x00",
    "pay_with": "local:USDC\x00",
    "replaces": "ord_\x00" + "A" * 24,
}


def test_s26_the_quote_form_names_the_field(buyer: Client) -> None:
    for field, value in QUOTE_FIELDS.items():
        answer = buyer.post("/en/catalog/b200-180/", configure(**{field: value}))
        assert answer.status_code == 400, field
        assert list(answer.context["form"].errors) == [field]
        total = buyer.get("/en/catalog/b200-180/total/", configure(**{field: value}))
        assert total.status_code == 400, field
    assert not Quote.objects.exists()


def test_s26_a_chosen_start_names_the_field(buyer: Client) -> None:
    chosen = {"start": "chosen", "start_date": "2030-01-01", "start_hour": "5"}
    for field in ("start_date", "start_hour"):
        answer = buyer.post("/en/catalog/b200-180/", configure(**chosen | {field: chosen[field] + "\x00"}))
        assert answer.status_code == 400
        assert errors_of(answer.content.decode(), field)
    assert not Quote.objects.exists()


def test_s26_an_option_that_nobody_offers_is_refused(buyer: Client) -> None:
    answer = buyer.post("/en/catalog/b200-180/", configure(**{"option_\x00": "1"}))
    assert answer.status_code in (400, 422)
    assert not Quote.objects.exists()


def test_s26_the_order_form_names_the_field(buyer: Client) -> None:
    quote = scenario.quote()
    for field, value in ORDER_FIELDS.items():
        answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(**{field: value}))
        assert answer.status_code == 400, field
        assert list(answer.context["form"].errors) == [field]
    assert not Order.objects.exists()
    assert not Hold.objects.exists()


def test_s26_nothing_of_a_nul_in_a_key_file_is_stored(buyer: Client) -> None:
    """A file is bytes and no text field: the key before the NUL is taken, the NUL is not."""
    quote, line = scenario.quote(), scenario.new_key_line("anna")
    upload = SimpleUploadedFile("i\x00d.pub", line.encode() + b"\x00")
    buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(ssh_keys="", ssh_key_file=upload))
    (key,) = Order.objects.get().ssh_keys
    assert f"{key['algorithm']} {key['data']} {key['comment']}" == line


def test_s26_the_forms_of_the_order_page_name_the_field(buyer: Client) -> None:
    order = scenario.order()
    for part, field in (("claim", "transaction_hash"), ("problem", "text")):
        answer = buyer.post(f"/en/orders/{order.token}/{part}/", {field: "0x\x00"})
        assert answer.status_code == 400
        assert errors_of(answer.content.decode(), field)
    assert not Claim.objects.exists()
    assert not Decision.objects.exists()


def test_s26_filters_are_refused(buyer: Client) -> None:
    for name in ("min_memory_gb", "stack", "vendor", "nothing", "a\x00b"):
        assert buyer.get("/en/catalog/", {name: "CUDA\x00"}).status_code == 400


def test_s26_queries_of_other_pages_are_refused(buyer: Client) -> None:
    order = scenario.order()
    for target, name in (
        (f"/en/quotes/{order.quote.public_id}/", "replaces"),
        (f"/en/orders/{order.token}/live/", "mark"),
        ("/en/catalog/b200-180/", "lot"),
        ("/en/", "x"),
    ):
        assert buyer.get(target, {name: "\x00"}).status_code == 400


def test_s26_headers_break_nothing(buyer: Client) -> None:
    headers = ("accept-language", "user-agent", "referer", "x-forwarded-for", "x-request-id")
    for header in headers:
        answer = buyer.post("/en/catalog/b200-180/", configure(), headers={header: "a\x00b"})
        assert answer.status_code == 303, header
    assert Quote.objects.count() == len(headers)


def test_s26_cookies_are_refused(db: None) -> None:
    for name in ("anchorgpu_owner", "csrftoken", "theme", "language"):
        buyer = Client()
        buyer.cookies[name] = "a\x00b"
        assert buyer.get("/en/").status_code == 400, name


def test_s26_the_theme_form_goes_nowhere_else(buyer: Client) -> None:
    answer = buyer.post("/theme/", {"theme": "da\x00rk", "next": "/en/\x00"})
    assert (answer.status_code, answer["Location"]) == (303, "/")
    assert "theme" not in answer.cookies


@pytest.mark.parametrize("text", ["a\x00b", "a\nb", "a\r\nb", "a\u2028b", "a\x85b", "\x1b[2Ja"])
def test_s26_a_log_entry_is_one_line_whatever_it_holds(text: str) -> None:
    """The handler of the settings, on a stream of our own."""
    configured = logging_settings()
    formatter: Any = configured["formatters"]["json"].copy()
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter.pop("()")(**formatter))
    logger = logging.getLogger("tests.s26")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        structlog.get_logger("tests.s26").warning("typed", text=text)
        logger.warning("typed %s", text)
    finally:
        logger.removeHandler(handler)
    written = stream.getvalue()
    assert written.count("\n") == len(written.splitlines()) == 2
    assert "\x00" not in written
    assert json.loads(written.split("\n")[0])["text"] == text
