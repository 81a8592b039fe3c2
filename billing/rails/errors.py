"""What can go wrong with a chain, in three kinds that a caller treats differently."""

from __future__ import annotations

MAX_REASON = 160


class ChainError(Exception):
    """Base; the text is one short technical sentence for logs and staff, never for buyers."""

    def __init__(self, reason: str) -> None:
        self.reason = one_line(reason)
        super().__init__(self.reason)


class ChainUnreadable(ChainError):
    """No usable answer: time-out, refusal, nonsense, endpoints that disagree. Nothing follows from it."""


class ChainMoved(ChainError):
    """The chain changed between two answers of one round: the round is void, ask again."""


class ChainMismatch(ChainError):
    """The chain answers, but is not the one in the networks file: it is not offered until somebody looks."""


class ChainDisagrees(ChainUnreadable):
    """Two endpoints tell different histories: nothing settles until they agree, and somebody has to know."""


class RpcRefused(ChainUnreadable):
    """The node understood and said no to one call (JSON-RPC error)."""

    def __init__(self, code: int | None, message: str) -> None:
        self.code = code
        self.node_message = one_line(message)
        super().__init__(f"the node refused ({code}): {self.node_message}")


class RpcTooLarge(ChainUnreadable):
    """The answer is larger than we read, or the endpoint says so (HTTP 413)."""


def one_line(text: str) -> str:
    """Bounded printable text: it may come from a foreign server and ends in rows and on admin pages."""
    flat = "".join(char if char.isprintable() else " " for char in text[: MAX_REASON * 2])
    return " ".join(flat.split())[:MAX_REASON]
