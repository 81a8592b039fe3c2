"""Public pages and facts that are kept in the memory of a process, so that a second reader costs almost nothing.

A kept page is drawn without the request: of a visitor it gets the language, the look and the address, and all three
are in its key. His CSRF token is put in afterwards, at a mark that no text of ours or of a visitor can contain.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.utils.translation import get_language

from shop import context

Value = TypeVar("Value")

# NUL: a request with one is refused, and the database cannot hold one.
_MARK = "\x00token\x00"
# Some 60 KB each: what a process may grow by is bounded.
_PAGES, _FACTS = 64, 32
# Longer addresses are drawn anew: nobody shares them.
_LONGEST_QUERY = 200


@dataclass(frozen=True)
class Draft:
    """What a page is drawn from. `context` knows nothing of the visitor."""

    template: str
    context: dict[str, Any]
    status: int = 200


@dataclass(frozen=True)
class _Entry(Generic[Value]):
    stamp: str
    until: float
    value: Value


@dataclass
class _Store(Generic[Value]):
    """The newest entries, the least used thrown out first. `until` is of the clock of the machine."""

    size: int
    entries: OrderedDict[Any, _Entry[Value]] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Any, stamp: str) -> Value | None:
        with self.lock:
            entry = self.entries.get(key)
            if entry is None or entry.stamp != stamp or time.time() >= entry.until:
                return None
            self.entries.move_to_end(key)
            return entry.value

    def put(self, key: Any, stamp: str, seconds: float, value: Value) -> None:
        with self.lock:
            self.entries[key] = _Entry(stamp, time.time() + seconds, value)
            self.entries.move_to_end(key)
            if len(self.entries) > self.size:
                self.entries.popitem(last=False)


_pages: _Store[list[bytes]] = _Store(_PAGES)
_facts: _Store[Any] = _Store(_FACTS)


def kept_page(
    request: HttpRequest, *, stamp: str, seconds: float, names: frozenset[str], draft: Callable[[], Draft]
) -> HttpResponse:
    """The page of this address: a kept one where `stamp` is the same and it is younger than `seconds`, else a new one.

    Only addresses with no other parameters than `names` are kept, and only pages with status 200.
    """
    key = _key(request, names)
    parts = _pages.get(key, stamp) if key is not None else None
    status = 200
    if parts is None:
        drawn = draft()
        status = drawn.status
        text = render_to_string(
            drawn.template, {**context.site(request), "csrf_token": _MARK, **drawn.context}
        )
        parts = text.encode().split(_MARK.encode())
        if key is not None and status == 200:
            _pages.put(key, stamp, seconds, parts)
    token = get_token(request).encode() if len(parts) > 1 else b""
    response = HttpResponse(token.join(parts), status=status)
    response["Cache-Control"] = "private, no-cache"
    return response


def kept_facts(name: str, *, stamp: str, seconds: float = 3600, read: Callable[[], Value]) -> Value:
    """What `read` returned the last time, as long as the stamp is the same. The value must never be changed."""
    found = _facts.get(name, stamp)
    if found is None:
        found = read()
        _facts.put(name, stamp, seconds, found)
    value: Value = found
    return value


def forget() -> None:
    """Start empty, as a new process does."""
    _pages.entries.clear()
    _facts.entries.clear()


def _key(request: HttpRequest, names: frozenset[str]) -> tuple[Any, ...] | None:
    query = request.META.get("QUERY_STRING", "")
    if len(query) > _LONGEST_QUERY or not request.GET.keys() <= names:
        return None
    return (
        request.get_full_path(),
        query,
        get_language(),
        context.chosen_theme(request),
        context.is_simulated(),
        context.is_untranslated(),
        settings.DEMO,
    )
