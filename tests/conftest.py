"""Options and rules that hold for every test."""

from collections.abc import Iterator

import pytest
from django.utils import translation

from anchorgpu.celery import app
from core import cache, hints
from shop import kept


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-full", action="store_true", help="also run the long tests (chaos, soak, load)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long tests are left out of the run, not skipped: a normal run has no skips."""
    if config.getoption("--run-full"):
        return
    long = [item for item in items if item.get_closest_marker("full")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


@pytest.fixture(scope="session", autouse=True)
def registered_tasks() -> None:
    """All Celery tasks and event handlers, as a worker has them."""
    app.loader.import_default_modules()


@pytest.fixture(autouse=True)
def broker_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that loses the broker must not silence the hints of the next one."""
    monkeypatch.setattr(hints, "_quiet_until", 0.0)
    monkeypatch.setattr(cache, "_quiet_until", 0.0)


@pytest.fixture(autouse=True)
def no_kept_pages() -> None:
    """Rows of one test can look like those of another; a page that is kept must not."""
    kept.forget()


@pytest.fixture(autouse=True)
def language_of_the_source() -> Iterator[None]:
    """A request under /de/ leaves its language active in this thread; the next test must not notice."""
    yield
    translation.deactivate()
