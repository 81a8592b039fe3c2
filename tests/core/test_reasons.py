"""What staff give as the reason of a button reaches the service behind it: none is asked for and thrown away."""

import dis
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.utils.module_loading import import_string

from core.decision_kinds import services_of


def buttons() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Those of the tables, and the services that answer decisions, which are handed to a button as they are."""
    for model, page in admin.site._registry.items():
        for action in getattr(page, "service_actions", ()):
            yield f"{model._meta.label_lower}.{action.name}", action.run
    for kind in settings.DECISION_KINDS:
        for name, path in services_of(kind).items():
            yield f"{kind}.{name}", import_string(path)


def passes_on(run: Callable[..., Any], name: str) -> bool:
    """Whether the body of a function reads this parameter."""
    while isinstance(run, partial):
        run = run.func
    return any(
        step.argval == name and step.opname.startswith(("LOAD_FAST", "LOAD_DEREF"))
        for step in dis.get_instructions(run)
    )


def test_every_button_passes_on_who_and_why() -> None:
    found = dict(buttons())
    assert len(found) > 80
    for name in ("actor", "reason"):
        assert [label for label, run in found.items() if not passes_on(run, name)] == []


@pytest.mark.parametrize("name", ["actor", "reason"])
def test_control_what_is_thrown_away_is_seen(name: str) -> None:
    def forgets(row: object, actor: str, reason: str) -> object:
        return row

    assert not passes_on(forgets, name)
    assert not passes_on(partial(forgets, None), name)
