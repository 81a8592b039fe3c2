"""Log lines: no secret of an address, no local variables."""

import io
import json
import logging
import logging.config
from collections.abc import Iterator

import pytest
import structlog
from django.test import Client

from anchorgpu.logs import logging_settings
from core import outbox
from orders.contact import clean_contact
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from tests import scenario


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What the console handler writes."""
    settings = logging_settings()
    handler = logging.StreamHandler(io.StringIO())
    configured = logging.config.DictConfigurator(settings)
    handler.setFormatter(configured.configure_formatter(settings["formatters"]["json"]))
    logger = logging.getLogger("tests.logs")
    logger.addHandler(handler)
    yield handler.stream
    logger.removeHandler(handler)


@pytest.mark.parametrize(
    ("before", "after"),
    [("/en/orders/", "/claim/"), ("/de/partner/login/", "/")],
    ids=["order", "login link"],
)
def test_an_address_that_is_a_secret_is_hidden_wherever_it_stands(
    lines: io.StringIO, before: str, after: str
) -> None:
    token = "w" * 43
    logging.getLogger("tests.logs").warning("Forbidden: %s", f"{before}{token}{after}")
    entry = json.loads(lines.getvalue())
    assert entry["event"] == f"Forbidden: {before}[hidden]{after}"
    assert token not in lines.getvalue()


def test_a_traceback_holds_no_local_variables(lines: io.StringIO) -> None:
    password = "not for the log"

    def fail() -> None:
        raise ValueError(len(password))

    try:
        fail()
    except ValueError:
        logging.getLogger("tests.logs").exception("failed")
    assert "ValueError" in lines.getvalue()
    assert password not in lines.getvalue()


@pytest.mark.django_db
def test_what_a_line_is_about_is_named_and_whose_it_is_is_not() -> None:
    """An order is placed, looked at, claimed and paid: its id stands in the lines, nothing of its buyer does."""
    secrets = ("Zora Quillfeather", "zora.q@gpu.example", "Quillfeather Labs")
    scenario.open_shop()
    scenario.offer_network("local", block=100)
    with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        contact = clean_contact(name=secrets[0], email=secrets[1], company=secrets[2], language="en")
        order = scenario.order(contact=contact, mail_to=secrets[1])
        page = f"/en/orders/{order.token}/"
        assert Client().get(page).status_code == 200
        Client().post(f"{page}claim/")
        scenario.pay(order)
        outbox.drain()
    text = json.dumps(lines, default=str)
    seen = [line for line in lines if line["event"] == "request"]
    assert {line.get("order") for line in seen} == {order.public_id}
    assert all(line["request_id"] and line["route"] and line["milliseconds"] >= 0 for line in seen)
    assert not [
        word for word in (*secrets, order.token, *(key["data"] for key in order.ssh_keys)) if word in text
    ]


@pytest.mark.django_db
def test_a_call_of_a_partner_names_the_partner_and_not_the_key() -> None:
    partner = make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")
    key = make_key(partner_id=partner.pk, actor="test")[1]
    with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        assert Client().get("/api/v1/orders", headers={"authorization": f"Bearer {key}"}).status_code == 200
        assert Client().get("/api/v1/orders").status_code == 401
    seen = [line for line in lines if line["event"] == "request"]
    assert [line.get("partner") for line in seen] == ["acme", None], (
        "nothing is left over for the next request"
    )
    assert key not in json.dumps(lines, default=str)


@pytest.mark.django_db
def test_what_anybody_can_send_is_no_error_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    answer = Client().post("/admin/login/", {f"field{number}": "x" for number in range(1001)})
    assert answer.status_code == 413
    assert [record.name for record in caplog.records if record.levelno >= logging.ERROR] == []
