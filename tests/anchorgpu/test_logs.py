"""Log lines: no secret of an order page, no local variables."""

import io
import json
import logging
import logging.config
from collections.abc import Iterator

import pytest

from anchorgpu.logs import logging_settings


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


def test_the_address_of_an_order_page_is_hidden_wherever_it_stands(lines: io.StringIO) -> None:
    token = "w" * 43
    logging.getLogger("tests.logs").warning("Forbidden: %s", f"/en/orders/{token}/claim/")
    entry = json.loads(lines.getvalue())
    assert entry["event"] == "Forbidden: /en/orders/[hidden]/claim/"
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
