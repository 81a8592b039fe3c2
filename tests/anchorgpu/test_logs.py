"""Log lines: no secret of an address, no local variables."""

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
