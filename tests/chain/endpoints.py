"""HTTP endpoints in front of a chain that lag, lie, hang or break off, as public ones do."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from anchorgpu.services.ports import LOCALHOST, free_port

Answer = dict[str, Any]
Forward = Callable[..., Any]  # forward(method, *params) -> the chain's own result
Rule = Callable[[str, list[Any], Forward], Any]


class Raw(Exception):
    """A rule raises it to answer the whole request with this status and body."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body


class NodeError(Exception):
    """A rule raises it to answer one call with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        self.message = message


class FaultyEndpoint:
    """Passes each call of a request, batch or single, to `rule(method, params, forward)`."""

    def __init__(self, upstream: str, rule: Rule) -> None:
        self.requests: list[list[str]] = []  # the methods of each HTTP request
        self._upstream = upstream
        self._rule = rule
        self._server = ThreadingHTTPServer((LOCALHOST, free_port()), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{LOCALHOST}:{self._server.server_address[1]}/v2/secret-key"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def forward(self, method: str, *params: Any) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self._upstream, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as response:
            answer = json.load(response)
        if "error" in answer:
            raise NodeError(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def answer(self, call: Answer) -> Answer:
        base = {"jsonrpc": "2.0", "id": call["id"]}
        try:
            return {**base, "result": self._rule(call["method"], call["params"], self.forward)}
        except NodeError as error:
            return {**base, "error": {"code": error.code, "message": error.message}}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                calls = body if isinstance(body, list) else [body]
                outer.requests.append([call["method"] for call in calls])
                try:
                    answers = [outer.answer(call) for call in calls]
                except Raw as raw:
                    self._reply(raw.status, raw.body)
                else:
                    self._reply(200, json.dumps(answers if isinstance(body, list) else answers[0]).encode())

            def _reply(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: the tests' output stays readable."""

        return Handler


class RawServer:
    """A TCP server that reads a request and then does what `behave(connection, stopped)` does."""

    def __init__(self, behave: Callable[[socket.socket, threading.Event], None]) -> None:
        self._behave = behave
        self._stopped = threading.Event()
        self._listener = socket.create_server((LOCALHOST, free_port()))
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http://{LOCALHOST}:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        self._stopped.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in list(self._threads):
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                self._behave(connection, self._stopped)
            except OSError:
                return
