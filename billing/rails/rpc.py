"""JSON-RPC over HTTP with hard bounds on time and size, on web3's provider.

Calls are plain JSON-RPC and not `w3.eth.*`: batches that mix blocks, calls and logs need one answer per call
(one refused call must not hide the others), and blocks of proof-of-authority chains must parse as they are.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError as TransportError
from urllib3.exceptions import ReadTimeoutError
from web3 import HTTPProvider
from web3.exceptions import Web3Exception
from web3.types import RPCEndpoint

from billing.rails.errors import ChainUnreadable, RpcRefused, RpcTooLarge

TIMEOUT_SECONDS = 5.0  # a healthy endpoint answers a batch well under a second; a worker may not hang on one
MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64  # an honest answer has about six levels, and the JSON parser recurses
MAX_BATCH = 100  # public endpoints refuse batches somewhere between 100 and 1,000
_CHUNK = 64 * 1024
_BRACKET = re.compile(rb"[\[\]{}]")

# py_ecc, which web3 brings along, raises the limit to 100,000 when it is loaded: a deeply nested JSON text,
# from wherever, would then end the process where it should raise RecursionError.
sys.setrecursionlimit(min(sys.getrecursionlimit(), 1_000))

Call = tuple[str, list[Any]]


class BoundedSession(requests.Session):
    """Reads a body under one deadline: a server that trickles bytes must not hold a worker for ever."""

    def __init__(self, timeout_seconds: float, *, max_bytes: int = MAX_ANSWER_BYTES) -> None:
        super().__init__()
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes

    def request(self, *args: Any, **kwargs: Any) -> requests.Response:
        deadline = time.monotonic() + self._timeout_seconds
        kwargs.update(timeout=self._timeout_seconds, stream=True, allow_redirects=False)
        response = super().request(*args, **kwargs)
        try:
            response._content = self._body(response, deadline)
        except BaseException:
            response.close()  # half an answer is left on the line: it may not serve the next call
            raise
        response._content_consumed = True  # type: ignore[attr-defined, unused-ignore]
        return response

    def _body(self, response: requests.Response, deadline: float) -> bytes:
        body = bytearray()
        try:
            while chunk := response.raw.read1(_CHUNK, decode_content=True):
                body += chunk
                if len(body) > self._max_bytes:
                    raise RpcTooLarge("the answer is too large")
                if time.monotonic() > deadline:
                    raise requests.Timeout("the body came too slowly")
        except ReadTimeoutError as error:
            raise requests.Timeout("the body stopped") from error
        except TransportError as error:
            raise requests.ConnectionError("the body broke off") from error
        if is_deeper_than(body, MAX_DEPTH):
            raise ChainUnreadable("the answer is nested too deeply")
        return bytes(body)


class JsonRpc:
    """One endpoint. Every failure is ChainUnreadable; it names the host only, as a path may carry a key."""

    def __init__(self, url: str, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        parts = urlsplit(url)
        self.host = parts.hostname or "?"
        session = BoundedSession(timeout_seconds)
        if self.host in ("127.0.0.1", "localhost", "::1"):
            session.trust_env = False  # no proxy of the environment between us and our own machine
        self._provider = HTTPProvider(
            url,
            request_kwargs={"timeout": timeout_seconds},
            session=session,
            exception_retry_configuration=None,  # web3 would try five times, for minutes
        )

    def call(self, method: str, params: list[Any]) -> Any:
        """One result; raises RpcRefused where the node says no."""
        return result_of(self.batch([(method, params)])[0])

    def batch(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        """One response object per call, in order, in one HTTP request of at most MAX_BATCH calls."""
        if not 0 < len(calls) <= MAX_BATCH:
            raise ValueError(f"A batch holds 1 to {MAX_BATCH} calls, not {len(calls)}.")
        requests_ = [(RPCEndpoint(method), params) for method, params in calls]
        try:
            answer: Any = (
                [self._provider.make_request(*requests_[0])]
                if len(requests_) == 1
                else self._provider.make_batch_request(requests_)
            )
        except ChainUnreadable:
            raise
        except requests.HTTPError as error:
            raise self._http_failure(error) from error
        except requests.Timeout as error:
            raise ChainUnreadable(f"{self.host}: no answer in time") from error
        except requests.RequestException as error:
            raise ChainUnreadable(f"{self.host}: no connection") from error
        except (Web3Exception, ValueError, TypeError, KeyError, AttributeError, OSError) as error:
            raise ChainUnreadable(f"{self.host}: the answer is not JSON-RPC") from error
        return self._checked(answer, len(calls))

    def _checked(self, answer: Any, expected: int) -> list[dict[str, Any]]:
        if isinstance(answer, dict) and "error" in answer:
            result_of(answer)  # a node that refuses the batch as a whole answers one error object
        if (
            not isinstance(answer, list)
            or len(answer) != expected
            or not all(isinstance(a, dict) for a in answer)
        ):
            raise ChainUnreadable(f"{self.host}: the answer is not JSON-RPC")
        ids = [item.get("id") for item in answer]
        if len(set(map(str, ids))) != expected:
            raise ChainUnreadable(f"{self.host}: the answers cannot be told apart")
        return answer

    def _http_failure(self, error: requests.HTTPError) -> ChainUnreadable:
        response = error.response
        status = response.status_code if response is not None else 0
        if status == 413:
            return RpcTooLarge(f"{self.host}: HTTP 413")
        if status == 400 and response is not None:  # some endpoints wrap a refused log range like this
            return RpcRefused(status, response.text[:500])
        return ChainUnreadable(f"{self.host}: HTTP {status}")


def is_deeper_than(body: bytes | bytearray, levels: int) -> bool:
    """Whether brackets nest deeper. Those inside strings count too: that errs on the safe side."""
    if body.count(b"[") + body.count(b"{") <= levels:
        return False
    depth = 0
    for bracket in _BRACKET.finditer(body):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > levels:
            return True
    return False


def result_of(response: dict[str, Any]) -> Any:
    """The result of one response object; raises RpcRefused for an error, ChainUnreadable for neither."""
    error = response.get("error")
    if error is not None:
        if not isinstance(error, dict):
            raise RpcRefused(None, str(error))
        code = error.get("code")
        raise RpcRefused(code if isinstance(code, int) else None, str(error.get("message", "")))
    if "result" not in response:
        raise ChainUnreadable("the answer has neither a result nor an error")
    return response["result"]
