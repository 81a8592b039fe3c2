"""The wiring between apps holds: every event has its place, every name leads to something that exists."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings
from django.contrib.auth.models import Permission
from django.utils.module_loading import import_string

from anchorgpu.events import HANDLERS
from anchorgpu.schedule import beat_schedule
from core import outbox, sweeps
from core.version import VERSION
from orders.lifecycle import ORDER, QUOTE

# The public list, written out a second time: what leaves it by accident is noticed here.
_NAMES = {
    "quote": "accepted expired",
    "order": "placed paid provisioning active ended expired cancelled failed no_capacity",
    "payment": ("claimed seen partial settled over late wrong_asset wrong_network dropped expired reversed"),
    "lease": (
        "reserved preparing testing ready late degraded repaired suspended resumed extended "
        "moved export_window reminder ending wiping closed failed"
    ),
    "credit": "due",
    "refund": "address_needed due sent verified failed",
}
EVENTS = [f"{kind}.{name}" for kind, names in _NAMES.items() for name in names.split()]
# Facts of the timeline that are not among the public events; no handler may hear them.
TIMELINE_ONLY = {"lease.login", "lease.shortened", "lease.key_added", "lease.key_removed"}
ROOT = Path(settings.BASE_DIR)


@pytest.fixture(scope="module", autouse=True)
def _tasks() -> None:
    current_app.loader.import_default_modules()


def test_each_public_event_has_its_place() -> None:
    assert sorted(HANDLERS) == sorted([*EVENTS, *TIMELINE_ONLY])
    assert all(HANDLERS[name] == [] for name in TIMELINE_ONLY)
    assert settings.DOMAIN_EVENT_HANDLERS is HANDLERS


def test_each_event_that_the_code_names_is_public() -> None:
    pattern = re.compile(r'name="((?:quote|order|payment|lease|credit|refund)\.[a-z_]+)"')
    found = {
        name
        for app in ("fleet", "orders", "billing")
        for file in (ROOT / app).rglob("*.py")
        for name in pattern.findall(file.read_text(encoding="utf-8"))
    } - set(current_app.tasks)
    assert found
    assert found <= {*EVENTS, *TIMELINE_ONLY}


@pytest.mark.parametrize("lifecycle", [QUOTE, ORDER], ids=lambda found: found.kind)
def test_each_step_of_a_lifecycle_tells_a_public_event(lifecycle: object) -> None:
    steps = [(a, b) for a, following in lifecycle.allowed.items() for b in following]  # type: ignore[attr-defined]
    assert {lifecycle.event_name(a, b) for a, b in steps} <= set(EVENTS)  # type: ignore[attr-defined]


def test_each_handler_is_a_registered_task() -> None:
    names = {name for handlers in HANDLERS.values() for name in handlers}
    assert names
    assert names <= outbox.registered()
    assert names <= set(current_app.tasks)


def test_each_registered_handler_is_wired() -> None:
    wired = {name for handlers in HANDLERS.values() for name in handlers}
    assert {name for name in outbox.registered() if not name.startswith("test.")} == wired


@pytest.mark.django_db
def test_each_decision_has_services_that_exist_and_a_permission_that_exists() -> None:
    assert settings.DECISION_KINDS
    for kind in settings.DECISION_KINDS.values():
        assert "note" in kind["actions"]
        for path in kind["actions"].values():
            service: Callable[..., object] = import_string(path)
            assert callable(service)
        app, codename = kind["permission"].split(".")
        assert Permission.objects.filter(content_type__app_label=app, codename=codename).exists()


def test_each_decision_that_the_code_opens_can_be_closed() -> None:
    pattern = re.compile(r'open_decision\(\s*kind="([a-z_]+)"')
    apps = ("core", "fleet", "orders", "billing", "shop", "partners")
    opened = {
        kind
        for app in apps
        for file in (ROOT / app).rglob("*.py")
        for kind in pattern.findall(file.read_text(encoding="utf-8"))
    }
    assert opened
    assert opened <= set(settings.DECISION_KINDS)


@pytest.mark.parametrize("demo", [True, False])
def test_each_scheduled_task_exists_and_is_dropped_when_the_next_is_due(demo: bool) -> None:
    schedule = beat_schedule(demo=demo)
    assert set(schedule) <= set(current_app.tasks)
    for entry in schedule.values():
        every = entry["schedule"].total_seconds()
        assert 0 < every <= 86400
        assert every <= entry["options"]["expires"] <= max(every, 2)


def test_each_sweep_is_scheduled() -> None:
    """A sweep task is called <app>.sweep_<name>, or fill_pool; each writes a SweepRun that /readyz looks at."""
    tasks = {name for name in current_app.tasks if ".sweep_" in name or name == "billing.fill_pool"}
    assert tasks == {name for name in beat_schedule(demo=True) if name != "anchorgpu.clear_sessions"}
    assert len(sweeps.names()) >= len(tasks)
    assert "billing.sweep_demo_transfers" not in beat_schedule(demo=False)


def test_broker_settings_lose_no_task_and_keep_no_result() -> None:
    conf = current_app.conf
    assert conf.task_acks_late
    assert conf.task_ignore_result
    assert conf.worker_prefetch_multiplier == 1
    assert conf.broker_connection_retry_on_startup
    assert conf.broker_transport_options["visibility_timeout"] > conf.task_time_limit


def test_the_version_is_that_of_the_package() -> None:
    assert f'\nversion = "{VERSION}"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
