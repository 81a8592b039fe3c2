"""A TCP proxy that hands connections to several servers in turn, as a balancer before two of each does."""

import socket
import socketserver
import threading
from collections import Counter
from contextlib import suppress
from itertools import cycle
from typing import Any

from anchorgpu.services.ports import LOCALHOST


class Balancer(socketserver.ThreadingTCPServer):
    """Who does not listen is passed over. `served`: connections by port."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, port: int, targets: list[int]) -> None:
        super().__init__((LOCALHOST, port), _Connection)
        self.served: Counter[int] = Counter()
        self._turns = cycle(targets)
        self._count = len(targets)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def connect(self) -> socket.socket:
        for _ in range(self._count):
            port = next(self._turns)
            with suppress(ConnectionRefusedError):
                found = socket.create_connection((LOCALHOST, port), timeout=30)
                self.served[port] += 1
                return found
        raise ConnectionRefusedError


class _Connection(socketserver.BaseRequestHandler):
    server: Balancer

    def handle(self) -> None:
        with suppress(OSError), self.server.connect() as target:
            target.settimeout(None)
            back = threading.Thread(target=_copy, args=(target, self.request), daemon=True)
            back.start()
            _copy(self.request, target)
            back.join()


def _copy(source: Any, target: Any) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
