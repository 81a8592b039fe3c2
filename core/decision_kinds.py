"""Reads of settings.DECISION_KINDS: which buttons a kind has, who may press one and what it asks for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


def services_of(kind: str) -> Mapping[str, str]:
    """Action -> dotted path of its service; empty for a kind that this version no longer knows."""
    found: Mapping[str, str] = _entry(kind).get("actions", {})
    return found


def permission_of(kind: str, action: str) -> str:
    """What a person needs for this action: its own permission, else that of the kind."""
    entry = _entry(kind)
    return str(entry.get("permissions", {}).get(action) or entry.get("permission", "core.change_decision"))


def inputs_of(kind: str, action: str) -> "Mapping[str, str | _StrPromise]":
    """What the action asks for beside the reason: keyword of its service -> label."""
    found: Mapping[str, str | _StrPromise] = _entry(kind).get("inputs", {}).get(action, {})
    return found


def answered_with(permission: str) -> tuple[str, ...]:
    """The kinds that a person with this permission answers: those about payments, about leases, and so on."""
    return tuple(kind for kind, entry in settings.DECISION_KINDS.items() if entry["permission"] == permission)


def _entry(kind: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = settings.DECISION_KINDS.get(kind, {})
    return found
