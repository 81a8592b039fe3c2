"""A visitor without a browser: asks for pages on one connection and counts what a first visit loads."""

import gzip
import http.client
from html.parser import HTMLParser
from typing import Any

from anchorgpu.services.ports import LOCALHOST

HOST = "gpu.example"
# The form of an answer that a proxy passes on, roughly: status line and headers.
_HEADERS = {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}


class Visitor:
    """Requests as a proxy passes them on, one after another."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._link = http.client.HTTPConnection(LOCALHOST, port, timeout=60)

    def is_answered(self) -> bool:
        try:
            return self._send("/healthz", "identity")[0] == 200
        except OSError:
            self._link.close()
            return False

    def ask(self, target: str, encoding: str, *, times: int) -> None:
        """Raises RuntimeError where an answer is not 200, or not in the form that was asked for."""
        for _number in range(times):
            status, coded, _size, body = self._send(target, encoding)
            if status != 200 or coded != encoding:
                raise RuntimeError(f"{target} answered {status} in {coded}: {body[-500:]!r}")

    def get(self, target: str) -> bytes:
        return self._send(target, "identity")[3]

    def weigh(self, target: str) -> tuple[int, bytes]:
        """Bytes of the answer with its headers as a browser loads it, and its body."""
        status, coded, size, body = self._send(target, "gzip")
        if status != 200:
            raise RuntimeError(f"{target} answered {status}.")
        return size, gzip.decompress(body) if coded == "gzip" else body

    def _send(self, target: str, encoding: str) -> tuple[int, str, int, bytes]:
        self._link.request("GET", target, headers=_HEADERS | {"Accept-Encoding": encoding})
        answer = self._link.getresponse()
        body = answer.read()
        head = sum(len(name) + len(value) + 4 for name, value in answer.getheaders())
        return answer.status, answer.getheader("Content-Encoding", "identity"), head + len(body), body


def first_visit(visitor: Visitor, target: str) -> dict[str, Any]:
    """What a browser with an empty cache loads for this page, without fonts; what blocks the drawing; other hosts."""
    size, html = visitor.weigh(target)
    reader = _Reader()
    reader.feed(html.decode())
    foreign = sorted(address for address in reader.loaded if not address.startswith("/"))
    own = sorted(address for address in reader.loaded if address.startswith("/"))
    sizes = {address: visitor.weigh(address)[0] for address in own}
    return {
        "bytes": size + sum(sizes.values()),
        "page": size,
        "requests": 1 + len(own),
        "blocking": len(reader.blocking),
        "foreign": foreign,
    }


class _Reader(HTMLParser):
    """Collects what a page loads: style sheets, scripts, icons, pictures; fonts are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: set[str] = set()
        self.blocking: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "link":
            self._link(values)
        elif tag == "script" and values.get("src"):
            self.loaded.add(values["src"])
            if not {"defer", "async"} & values.keys() and values.get("type") != "module":
                self.blocking.add(values["src"])
        elif tag in ("img", "use", "source", "iframe"):
            address = values.get("src") or values.get("href") or ""
            if address and not address.startswith(("#", "data:")):
                self.loaded.add(address.partition("#")[0])

    def _link(self, values: dict[str, str]) -> None:
        kinds = values.get("rel", "").split()
        if "stylesheet" in kinds:
            self.loaded.add(values["href"])
            self.blocking.add(values["href"])
        elif {"icon", "manifest"} & set(kinds) or (
            kinds in (["preload"], ["modulepreload"]) and values.get("as") != "font"
        ):
            self.loaded.add(values["href"])
