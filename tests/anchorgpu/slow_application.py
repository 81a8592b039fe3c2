"""A WSGI application that takes its time, to be served with the shop's own configuration of gunicorn."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def application(environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Waits as many seconds as the query says; answers with its process and the scheme it was told."""
    time.sleep(float(environ["QUERY_STRING"] or "0"))
    body = f"{os.getppid()} {environ['wsgi.url_scheme']}".encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
