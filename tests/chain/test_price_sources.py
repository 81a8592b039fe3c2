"""A price page: bounded in time, size and form; what is no number is an error and never a price (C38)."""

import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from billing.rails.errors import ChainUnreadable
from billing.rails.price_sources import read_page

Serve = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves one answer for every request and gives its address."""
    servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(body: bytes, *, status: int = 200, location: str = "") -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                if location:
                    self.send_header("Location", location)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: the tests' output stays readable."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}/price"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("body", "pointer", "price"),
    [
        (b'{"data": {"amount": "2000.50"}}', "/data/amount", "2000.50"),
        (b'{"p": 0.1}', "/p", "0.1"),
        (b'[{"p": 7}]', "/0/p", "7"),
    ],
)
def test_a_number_is_read_exactly(serve: Serve, body: bytes, pointer: str, price: str) -> None:
    assert read_page(serve(body), pointer).price == Decimal(price)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>error</html>",
        b"",
        b'{"p": NaN}',
        b'{"p": "NaN"}',
        b'{"p": Infinity}',
        b'{"p": true}',
        b'{"p": null}',
        b'{"p": "much"}',
        b'{"p": 1e999999}',
        b'{"p": "1e400"}',
        b'{"q": 1}',
        b"[1]",
        b"[" * 5000,
        b'{"p": "' + b"1" * 300_000 + b'"}',
        b"\xff",
    ],
)
def test_nonsense_is_refused(serve: Serve, body: bytes) -> None:
    with pytest.raises(ChainUnreadable):
        read_page(serve(body), "/p")


def test_an_error_page_and_a_redirect_are_no_price(serve: Serve) -> None:
    for url in (
        serve(b'{"p": 1}', status=500),
        serve(b"", status=302, location=serve(b'{"p": 1}')),
    ):
        with pytest.raises(ChainUnreadable):
            read_page(url, "/p")


def test_a_page_that_is_not_there_is_no_price() -> None:
    with pytest.raises(ChainUnreadable, match="no answer"):
        read_page("http://127.0.0.1:9/", "/p")
