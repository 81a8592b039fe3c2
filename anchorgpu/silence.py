"""A bound on clients that begin a request and fall silent: gunicorn's threads have none of their own."""

import socket
import struct
from typing import Any

# A client that is under way sends its request in one or two packets; a lost one is repeated within 3 s.
SILENCE_SECONDS = 5


def when_ready(server: Any) -> None:
    """gunicorn's hook before the workers start. Linux hands the time limit of a listener on to its connections.

    It bounds each wait, not a whole request: who sends a byte now and then keeps a thread, and only a proxy that
    buffers requests helps against that (docs/operations.md).
    """
    for listener in server.LISTENERS:
        listener.sock.setsockopt(
            socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", SILENCE_SECONDS, 0)
        )
