"""A buyer as every app knows him: an address, the orders of it, and the parts that apps play when he asks for his data.

What each app keeps, what speaks against an erasure and what it erases is wired in anchorgpu/personal.py, as decisions
are: core calls the apps by name and imports none.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, cast

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.module_loading import import_string

from core.append_only import MARKER

# A section of an export ("orders") -> its rows, as JSON has them.
Kept = dict[str, Sequence[Mapping[str, object]]]


@dataclass(frozen=True)
class Person:
    """`address` is folded, `names` are those of the orders, company names among them."""

    address: str
    order_refs: tuple[str, ...] = ()
    order_ids: tuple[int, ...] = ()
    names: tuple[str, ...] = field(default=(), repr=False)

    @property
    def mark(self) -> str:
        """What the audit calls this person: a keyed hash, so that nobody can try addresses against it."""
        digest = salted_hmac("core.person", self.address, algorithm="sha256").hexdigest()
        return f"person:{digest[:32]}"

    @cached_property
    def _addressed(self) -> re.Pattern[str]:
        return _any_of({self.address, _as_typed(self.address)})

    @cached_property
    def _named(self) -> re.Pattern[str]:
        return _any_of({self.address, _as_typed(self.address), *self.names})

    def is_addressed(self, text: str) -> bool:
        """Whether a text holds the address. For machine-made texts: a buyer may call himself "settled"."""
        return self._addressed.search(text) is not None

    def is_mentioned(self, text: str) -> bool:
        """Whether what a person wrote holds the address, or a name."""
        return self._named.search(text) is not None


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    # Whole words: "Ed" is not in "credited". Orders keep no empty name here.
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest_first), re.IGNORECASE)


def _as_typed(address: str) -> str:
    """The address with its domain as people write it; orders keep punycode."""
    local, _at, domain = address.rpartition("@")
    try:
        return f"{local}@{domain.encode('ascii').decode('idna')}"
    except UnicodeError:
        return address


class Finder(Protocol):
    """Finds the person of a cleaned address; `lock` takes the orders for the caller's transaction."""

    def __call__(self, address: str, *, lock: bool = False) -> Person: ...


@dataclass(frozen=True)
class Part:
    """What one app does: `kept` for an export, `open_matters` as sentences, `erase` with what it counted."""

    kept: Callable[[Person], Kept]
    open_matters: Callable[[Person], Iterable[str]]
    erase: Callable[[Person], Mapping[str, int]]


def find(address: str, *, lock: bool = False) -> Person:
    """The person of an address, with no orders where nobody has it. Raises Invalid for what is no address."""
    finder = cast(Finder, import_string(settings.PERSON_FINDER))
    return finder(address, lock=lock)


def parts() -> list[Part]:
    """Every app's part, in the order in which rows are locked."""
    return [
        Part(**{name: import_string(path) for name, path in part.items()}) for part in settings.PERSONAL_DATA
    ]


def kept_of(person: Person) -> Kept:
    """All that is kept, section by section; sections without rows are left out."""
    return {section: rows for part in parts() for section, rows in part.kept(person).items() if rows}


def open_matters_of(person: Person) -> list[str]:
    """Why this person cannot be erased now, a sentence each."""
    return [str(sentence) for part in parts() for sentence in part.open_matters(person)]


def blanked(value: Any, *, person: Person, keys: Collection[str] = (), inside: bool = False) -> Any:
    """A JSON value with the marker in place of each text that holds the address or stands under one of `keys`."""
    if isinstance(value, str):
        return MARKER if value and (inside or person.is_addressed(value)) else value
    if isinstance(value, dict):
        return {
            key: blanked(part, person=person, keys=keys, inside=inside or key in keys)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [blanked(part, person=person, keys=keys, inside=inside) for part in value]
    return value
