"""Every address that the shop answers, filled with values of rows that exist where they can."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from django.urls import URLPattern, URLResolver, get_resolver

_PARAMETER = re.compile(r"<(?:(?P<converter>\w+):)?(?P<name>\w+)>")
# Patterns that are regular expressions, with an address each.
_EXPRESSIONS = {
    "(?P<url>.*)$": "nothing-here/",
    "^v1/.*$": "v1/nothing-here",
}


def addresses(values: Mapping[str, str]) -> list[str]:
    """One for each pattern; `values` by the name of a parameter, or by its converter."""
    return sorted({f"/{_filled(route, values)}" for route in _routes(get_resolver().url_patterns)})


def _routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = str(pattern.pattern)
        if route.startswith("^(?P<app_label>"):
            route = "core/"
        route = before + _EXPRESSIONS.get(route, route)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        else:
            yield route


def _filled(route: str, values: Mapping[str, str]) -> str:
    """A slug means something else below each page; all other names mean the same everywhere."""
    place = route.partition("<")[0]

    def value(found: re.Match[str]) -> str:
        name = found["name"]
        return quote(
            values.get(f"{place}{name}") or values.get(name) or values.get(found["converter"] or "", "1")
        )

    return _PARAMETER.sub(value, route)
