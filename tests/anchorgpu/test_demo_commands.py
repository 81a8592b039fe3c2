"""demo_setup and demo_clock: they work again and again, and nowhere but in the demo."""

import io
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from anchorgpu.management.commands import demo_clock
from anchorgpu.management.commands.demo_clock import parse_skip, wait_for_sweeps
from anchorgpu.services.anvil import Anvil
from billing import offers
from billing.networks import parse_networks
from billing.rails import local_chain
from catalog.models import Lot
from catalog.selectors import images_for
from catalog.services.seed import seed_catalog
from core import clock, outbox, sweeps
from core.models import SweepRun
from fleet.gateway import heartbeat
from fleet.models import Card, Node
from fleet.periods import held_period
from fleet.selectors import free_lots
from partners.models import ApiKey, Partner
from partners.selectors import key_by_text
from partners.services.revoke_key import revoke_key
from tests.environment import NETWORKS

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_chosen_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMO_STAFF_USER", raising=False)
    monkeypatch.delenv("DEMO_STAFF_PASSWORD", raising=False)


def set_up(folder: Path) -> str:
    said = io.StringIO()
    call_command("demo_setup", folder=folder, stdout=said)
    return said.getvalue()


def test_every_lot_on_sale_can_be_sold_at_least_once(tmp_path: Path) -> None:
    seed_catalog()
    set_up(tmp_path)
    moment = clock.now()
    period = held_period(
        placed_at=moment, starts_at=None, release_at=moment + timedelta(hours=3), term_seconds=30 * 86400
    )
    sold = Lot.objects.filter(on_sale=True, accelerator__card_hour_amount__isnull=False)
    assert sold.count() > 20
    for lot in sold.select_related("accelerator"):
        driver = Node.objects.filter(accelerator=lot.accelerator)[0].driver_version
        running = [
            found
            for found in images_for(accelerator=lot.accelerator, node_driver=driver)
            if found.verdict.runs
        ]
        minimum = max((found.image.driver_minimum or "" for found in running), default="")
        assert running, lot
        assert free_lots(lot=lot, period=period, driver_minimum=minimum).lots >= 1, lot
    assert free_lots(lot=Lot.objects.get(code="b200-180x2"), period=period).lots == 8
    assert all(serial.startswith("DEMO-") for serial in Card.objects.values_list("serial", flat=True))


def test_a_second_run_changes_nothing_and_says_the_same_key(tmp_path: Path) -> None:
    seed_catalog()
    first, cards = set_up(tmp_path), Card.objects.count()
    second = set_up(tmp_path)
    assert cards == Card.objects.count() > 0
    assert ApiKey.objects.count() == Partner.objects.count() == User.objects.count() == 1
    key = (tmp_path / "demo-api-key.txt").read_text().strip()
    assert key in first
    assert key in second


def test_secrets_are_for_the_owner_of_the_files_alone(tmp_path: Path) -> None:
    said = set_up(tmp_path)
    for name in ("demo-staff.txt", "demo-api-key.txt"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    password = (tmp_path / "demo-staff.txt").read_text().strip()
    assert password in said
    user = authenticate(username="staff", password=password)
    assert user is not None
    assert user.is_superuser


def test_a_password_that_was_chosen_is_taken_and_not_said_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEMO_STAFF_USER", "staff")
    monkeypatch.setenv("DEMO_STAFF_PASSWORD", "chosen-by-the-demo")
    said = set_up(tmp_path)
    assert "chosen-by-the-demo" not in said
    assert authenticate(username="staff", password="chosen-by-the-demo") is not None


def test_a_key_that_was_revoked_is_replaced(tmp_path: Path) -> None:
    set_up(tmp_path)
    first = (tmp_path / "demo-api-key.txt").read_text().strip()
    revoke_key(key_id=ApiKey.objects.get().pk, actor="test", reason="test")
    set_up(tmp_path)
    second = (tmp_path / "demo-api-key.txt").read_text().strip()
    assert first != second
    found = key_by_text(second)
    assert found is not None
    assert found.revoked_at is None


def test_outside_of_the_demo_nothing_is_made(tmp_path: Path, settings: Settings) -> None:
    settings.DEMO = False
    with pytest.raises(CommandError, match="demo only"):
        set_up(tmp_path)
    with pytest.raises(CommandError, match="Only the demo"):
        call_command("demo_clock", skip="2d")
    assert not User.objects.exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("90m", 90), ("2h", 120), ("3d", 4320), ("2d12h", 3600), ("1d1h1m", 1501), ("400d", 576000)],
)
def test_a_skip_is_days_hours_and_minutes(text: str, minutes: int) -> None:
    assert parse_skip(text) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    "text", ["", "0m", "2", "d", "-2d", "2w", "2d-1h", "1h2d", "401d", "99999d", "2 d", "٢d", "1.5d"]
)
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(CommandError, match="such as"):
        parse_skip(text)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A worker that does each sweep at once; the tasks that it was asked for."""
    asked: list[str] = []

    def hint(task: str, *_args: object) -> bool:
        asked.append(task)
        for name in sweeps.names():
            SweepRun.objects.update_or_create(name=name, defaults={"last_product_at": clock.now()})
        return True

    monkeypatch.setattr(outbox, "hint", hint)
    return asked


@pytest.fixture
def one_network(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Offer the local chain at an address, and nothing else."""

    def offer(text: str) -> None:
        monkeypatch.setattr(offers, "networks", lambda: parse_networks(text))

    return offer


@pytest.fixture
def own_anvil(tmp_path: Path) -> Iterator[Anvil]:
    """A chain of its own: a moved clock stays moved, and the shared one serves other tests."""
    chain = Anvil(log_file=tmp_path / "anvil.log")
    chain.start()
    yield chain
    chain.stop()


@pytest.mark.chain
def test_shop_and_chain_move_together(
    own_anvil: Anvil, worker: list[str], one_network: Callable[[str], None]
) -> None:
    anvil = own_anvil
    one_network(NETWORKS.replace("http://127.0.0.1:9", anvil.url))
    before, said = clock.now(), io.StringIO()
    start = local_chain.chain_time(anvil.url)
    call_command("demo_clock", skip="2d", stdout=said)
    assert timedelta(days=2) <= clock.now() - before < timedelta(days=2, minutes=2)
    assert local_chain.chain_time(anvil.url) - start > timedelta(days=1)
    assert local_chain.chain_time(anvil.url) >= before + timedelta(days=2)
    assert "2 d 0 h 0 min ahead" in said.getvalue()
    assert "fleet.sweep_leases" in worker


def test_a_chain_that_does_not_answer_leaves_the_clock_where_it_is(
    worker: list[str], one_network: Callable[[str], None]
) -> None:
    one_network(NETWORKS)
    with pytest.raises(CommandError, match="nothing was"):
        call_command("demo_clock", skip="2d")
    assert clock.offset() == timedelta(0)
    assert worker == []


def test_with_another_chain_the_clock_stays(worker: list[str], one_network: Callable[[str], None]) -> None:
    one_network(NETWORKS.replace("31337", "1"))
    with pytest.raises(CommandError, match="31337"):
        call_command("demo_clock", skip="2d")
    assert clock.offset() == timedelta(0)


def test_sweeps_that_do_not_run_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "hint", lambda *_args: False)
    SweepRun.objects.create(name="leases", last_product_at=clock.now() - timedelta(seconds=1))
    with pytest.raises(CommandError, match=r"leases.*Is the demo running"):
        wait_for_sweeps(clock.now(), seconds=0)


def test_a_sign_of_life_is_no_sweep(worker: list[str]) -> None:
    SweepRun.objects.create(name=heartbeat.NAME, last_finished_at=clock.system_now())
    wait_for_sweeps(clock.now(), seconds=0)


def test_it_waits_until_the_last_sweep_has_seen_the_new_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "hint", lambda *_args: True)
    waited: list[float] = []

    def pause(seconds: float) -> None:
        """Each time one more sweep runs."""
        name = sorted(sweeps.names())[len(waited)]
        SweepRun.objects.update_or_create(name=name, defaults={"last_product_at": clock.now()})
        waited.append(seconds)

    wait_for_sweeps(clock.now(), pause=pause)
    assert len(waited) == len(sweeps.names()) > 5
    assert demo_clock.WAIT_SECONDS == 120
