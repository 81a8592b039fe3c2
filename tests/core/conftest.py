"""A superuser and a clock that is let run, for the tests of staff."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client

from core import clock
from tests.core.desk import staff


@pytest.fixture
def chief(db: None) -> Client:
    """A superuser."""
    return staff("chief", superuser=True)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Let time pass on the system clock."""
    real = clock.system_now
    passed = timedelta()

    def shifted() -> datetime:
        return real() + passed

    def step(delta: timedelta) -> None:
        nonlocal passed
        passed += delta

    monkeypatch.setattr(clock, "system_now", shifted)
    return step
