"""Options and rules that hold for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.utils import translation
from pytest_django import Settings

from anchorgpu.celery import app
from core import cache, hints
from shop import kept
from tests.core.desk import staff


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-full", action="store_true", help="also run the long tests (chaos, soak, load)")
    parser.addoption(
        "--run-slurm", action="store_true", help="start a Slurm cluster and run the tests that need one"
    )
    parser.addoption("--slurm-root", help="a folder with a newer Slurm; its cluster is driven by REST")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests on a Slurm cluster are collected only where one is started for them."""
    needs_cluster = collection_path == Path(__file__).parent / "slurm"
    return True if needs_cluster and not config.getoption("--run-slurm") else None


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--run-slurm"):
        config.pluginmanager.import_plugin("tests.slurm.plugin")


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
def plain_static_files(settings: Settings) -> None:
    """Pages name static files as they are: nothing was collected."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


@pytest.fixture
def admin_client(db: None) -> Client:
    """A superuser who has given his password; pytest-django's own has no session row."""
    return staff("admin", superuser=True)


@pytest.fixture(autouse=True)
def language_of_the_source() -> Iterator[None]:
    """A request under /de/ leaves its language active in this thread; the next test must not notice."""
    yield
    translation.deactivate()
