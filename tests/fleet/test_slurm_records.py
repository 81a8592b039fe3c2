"""The Slurm driver's own rows and key files: accounts are had once, nodes that are not wiped stay ours."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from core import clock, outbox
from fleet.gateway.logins import find_login
from fleet.models import SlurmMachine
from fleet.providers.base import CardSpec, LeaseSpec, ProviderRefused, ProviderUnavailable
from fleet.providers.slurm import keys, records
from fleet.providers.slurm.tools import Tools
from fleet.services.sweep import advance_lease
from shop import readiness
from tests.factories.fleet import make_lease, make_lot, new_key

POOL = ("lease01", "lease02")


def spec(lease_id: int, *nodes: str, begins: float = 0, hours: float = 72) -> LeaseSpec:
    moment = clock.now() + timedelta(hours=begins)
    return LeaseSpec(
        lease_id=lease_id,
        username=f"l{lease_id}",
        cards=tuple(CardSpec(node, 0, f"{node}-0", "h200-sxm-141") for node in nodes),
        image="pytorch",
        starts_at=moment,
        ends_at=moment + timedelta(hours=hours),
    )


@pytest.mark.django_db
def test_an_account_has_one_lease_and_is_free_again_after_the_wipe() -> None:
    first = records.ask(spec(1, "gpu1"), accounts=POOL)
    assert records.ask(spec(1, "gpu1"), accounts=POOL) == first
    second = records.ask(spec(2, "gpu2"), accounts=POOL)
    assert (first.account, second.account) == POOL
    with pytest.raises(ProviderUnavailable, match="Every account"):
        records.ask(spec(3, "gpu3"), accounts=POOL)
    records.update(first, state="ended")
    with pytest.raises(ProviderUnavailable, match="Every account"):
        records.ask(spec(3, "gpu3"), accounts=POOL)
    records.update(first, state="wiped")
    assert records.ask(spec(3, "gpu3"), accounts=POOL).account == "lease01"


@pytest.mark.django_db
def test_a_lease_that_moves_keeps_its_account() -> None:
    records.ask(spec(1, "gpu1"), accounts=POOL)
    moving = records.ask(spec(2, "gpu2"), accounts=POOL)
    SlurmMachine.objects.filter(lease_id=1).delete()
    records.update(moving, state="wiped")
    assert records.ask(spec(2, "gpu3"), accounts=POOL).account == "lease02"


@pytest.mark.django_db
def test_nodes_of_another_lease_are_refused_until_they_are_wiped() -> None:
    first = records.ask(spec(1, "gpu1", "gpu2"), accounts=POOL)
    with pytest.raises(ProviderRefused, match="overlaps with that of lease 1"):
        records.ask(spec(2, "gpu2", "gpu3"), accounts=POOL)
    records.update(first, starts_at=clock.now() - timedelta(days=9), ends_at=clock.now() - timedelta(days=1))
    with pytest.raises(ProviderRefused, match="overlaps"):
        records.ask(spec(2, "gpu2"), accounts=POOL)
    records.update(first, state="wiped")
    assert records.ask(spec(2, "gpu2"), accounts=POOL).state == "asked"


@pytest.mark.django_db
def test_an_unknown_reservation_is_taken_up_for_accounts_of_the_pool_only() -> None:
    for account in ("root", "lease01,root", ""):
        machine = SlurmMachine(
            lease_id=1, account=account, cards=[], starts_at=clock.now(), ends_at=clock.now(), state="open"
        )
        with pytest.raises(ProviderRefused, match="look at it"):
            records.adopt(machine, accounts=POOL)
    assert not SlurmMachine.objects.exists()


@pytest.mark.django_db
def test_key_lines_are_those_of_the_lease() -> None:
    public = new_key()[1]
    lease = make_lease(make_lot(), keys=[public])
    assert keys.lines_of(lease.pk, [public.fingerprint]) == [f"{public.algorithm} {public.data}"]
    with pytest.raises(ProviderRefused, match="SHA256:other"):
        keys.lines_of(lease.pk, [public.fingerprint, "SHA256:other"])
    with pytest.raises(ProviderRefused):
        keys.lines_of(lease.pk + 1, [public.fingerprint])


@pytest.mark.django_db(transaction=True)  # as the gateway, each look gives its connection back
def test_the_gateway_of_the_simulated_nodes_opens_nothing(
    settings: Any, provider: object, no_login: object
) -> None:
    public = new_key()[1]
    lease = make_lease(make_lot(), keys=[public])
    advance_lease(lease_id=lease.pk)
    assert find_login(username=lease.username, fingerprint=public.fingerprint) is not None
    assert "gateway" in {part.name for part in readiness._parts()}
    settings.PROVIDER = "slurm"
    assert find_login(username=lease.username, fingerprint=public.fingerprint) is None
    assert "gateway" not in {part.name for part in readiness._parts()}


def test_key_files_are_replaced_as_a_whole(tmp_path: Path) -> None:
    files = keys.KeyFiles(tmp_path)
    (_key, first), (_other, second) = new_key(), new_key()
    until = clock.system_now() + timedelta(days=1)
    lines = [f"{key.algorithm} {key.data}" for key in (first, second)]
    assert files.fingerprints("lease01") == ()
    files.write("lease01", lines[:1], expires_at=until, test_line=lines[1])
    text = (tmp_path / "lease01").read_text()
    assert text.count(f'expiry-time="{until:%Y%m%d%H%M%S}Z" ssh-ed25519 ') == 2
    assert (tmp_path / "lease01").stat().st_mode & 0o777 == 0o644
    assert files.fingerprints("lease01") == (first.fingerprint,), "the key of the test is no member"
    files.write("lease01", lines, expires_at=until)
    assert files.fingerprints("lease01") == tuple(sorted([first.fingerprint, second.fingerprint]))
    assert [path.name for path in tmp_path.iterdir()] == ["lease01"]
    files.remove("lease01")
    files.remove("lease01")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ProviderUnavailable, match="cannot be written"):
        keys.KeyFiles(tmp_path / "gone").write("lease01", lines, expires_at=until)


@pytest.mark.parametrize(
    ("provider", "name", "looks"),
    [
        ("slurm", "anchor_7", ["fleet.sweep_health", "fleet.sweep_machines"]),
        ("slurm", "maintenance", []),
        ("simulated", "anchor_7", []),
    ],
)
def test_a_hook_of_the_cluster_has_the_shop_look(
    monkeypatch: pytest.MonkeyPatch, settings: Any, provider: str, name: str, looks: list[str]
) -> None:
    given: list[str] = []
    monkeypatch.setattr(outbox, "hint", given.append)
    settings.PROVIDER = provider
    call_command("slurm_event", name)
    assert given == looks


def test_tools_have_a_limit_and_an_environment_of_their_own(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setenv("SQUEUE_FORMAT", "%A")
    settings.SLURM_CONF = "/etc/slurm/of-this-shop.conf"
    shown = Tools().run("env").split()
    assert {"TZ=UTC", "SLURM_CONF=/etc/slurm/of-this-shop.conf"} <= set(shown)
    assert not [word for word in shown if word.startswith("SQUEUE")]
    with pytest.raises(ProviderUnavailable, match="no answer within 0 s"):
        Tools().run(sys.executable, "-c", "import time; time.sleep(9)", seconds=0.2)
    with pytest.raises(ProviderUnavailable, match="cannot be run"):
        Tools().run("no-such-tool-of-slurm")
