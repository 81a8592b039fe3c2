"""The driver where the cluster, its nodes or the way to them fail."""

from datetime import timedelta
from typing import Any

import pytest

from core import clock
from fleet.models import SlurmMachine
from fleet.providers.base import (
    CardSpec,
    LeaseSpec,
    NotYet,
    ProviderRefused,
    ProviderUnavailable,
    UnknownLease,
    differences,
)
from fleet.providers.slurm import wiping
from fleet.providers.slurm.provider import SlurmProvider
from fleet.providers.slurm.tools import Tools
from tests.contract.providers import KEYS
from tests.slurm.bench import four_nodes, patiently
from tests.slurm.cluster import Cluster

pytestmark = pytest.mark.django_db
A = next(iter(KEYS))


class Killed(BaseException):
    """The end of the process at this point."""


class LosingTools(Tools):
    """Each command that starts like this takes effect, once, and its caller never hears of it."""

    def __init__(self, *start: str, error: type[BaseException] = ProviderUnavailable) -> None:
        self.start, self.error = start, error

    def run(self, *command: str, user: str = "", seconds: float = 10.0) -> str:
        answer = super().run(*command, user=user, seconds=seconds)
        if self.start and command[: len(self.start)] == self.start:
            self.start = ()
            raise self.error("No answer in time (test).")
        return answer


def driver(tools: Tools | None = None) -> SlurmProvider:
    return SlurmProvider(tools=tools, key_lines=lambda _lease_id, wanted: [KEYS[name] for name in wanted])


@pytest.fixture
def nodes() -> list[tuple[CardSpec, ...]]:
    return four_nodes()


def spec(
    cards: tuple[CardSpec, ...], *, lease_id: int = 1, hours: float = 72, seconds: float = 0
) -> LeaseSpec:
    moment = clock.now()
    return LeaseSpec(
        lease_id=lease_id,
        username=f"l{lease_id}",
        cards=cards,
        image="pytorch",
        starts_at=moment,
        ends_at=moment + timedelta(hours=hours, seconds=seconds),
    )


def opened(
    provider: SlurmProvider, cards: tuple[CardSpec, ...], hours: float = 72, seconds: float = 0
) -> SlurmMachine:
    provider.reserve(spec(cards, hours=hours, seconds=seconds))
    patiently(provider.prepare, 1)
    provider.open_access(1, (A,))
    return SlurmMachine.objects.get(lease_id=1)


@pytest.mark.parametrize("error", [ProviderUnavailable, Killed])
def test_a_reservation_made_although_the_call_failed_is_found(
    cluster: Cluster, nodes: list[tuple[CardSpec, ...]], error: type[BaseException]
) -> None:
    asked = spec(nodes[0])
    with pytest.raises(error):
        driver(LosingTools("scontrol", "create", error=error)).reserve(asked)
    assert cluster.reservations() == ["anchor_1"]
    account = SlurmMachine.objects.get(lease_id=1, state="asked").account
    assert driver().reserve(asked).running
    assert cluster.reservations() == ["anchor_1"]
    assert SlurmMachine.objects.get(lease_id=1, state="reserved").account == account


def test_a_holder_started_although_the_call_failed_is_found(
    cluster: Cluster, nodes: list[tuple[CardSpec, ...]]
) -> None:
    provider = driver(LosingTools("sbatch"))
    provider.reserve(spec(nodes[0]))
    with pytest.raises(ProviderUnavailable):
        provider.prepare(1)
    patiently(provider.prepare, 1)
    assert len(cluster.run("squeue", "-h", "-a", "-o", "%j").split()) == 1


def test_part_of_a_node_and_an_unknown_node_are_refused(nodes: list[tuple[CardSpec, ...]]) -> None:
    with pytest.raises(ProviderRefused, match="sold whole"):
        driver().reserve(spec(nodes[0][:4]))
    with pytest.raises(ProviderRefused, match="not found"):
        driver().reserve(spec((CardSpec("gpu9", 0, "x", "h200-sxm-141"),)))
    assert not SlurmMachine.objects.exists()


def test_a_moved_clock_reserves_nothing(nodes: list[tuple[CardSpec, ...]]) -> None:
    clock.skip(timedelta(hours=1))
    with pytest.raises(ProviderRefused, match="clock"):
        driver().reserve(spec(nodes[0]))


def test_what_was_asked_for_and_never_made_is_nothing(
    cluster: Cluster, nodes: list[tuple[CardSpec, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease that moves on must not wait for a wipe of what it never had."""
    provider = driver()

    def no_answer(*_args: Any, **_values: Any) -> None:
        raise ProviderUnavailable("No answer in time (test).")

    monkeypatch.setattr(provider.controller, "create", no_answer)
    with pytest.raises(ProviderUnavailable):
        provider.reserve(spec(nodes[0]))
    with pytest.raises(UnknownLease):
        provider.end(1)
    assert not SlurmMachine.objects.exists()


def test_a_lease_that_was_never_opened_leaves_a_dead_node(
    cluster: Cluster, nodes: list[tuple[CardSpec, ...]]
) -> None:
    provider = driver()
    provider.reserve(spec(nodes[0]))
    patiently(provider.prepare, 1)
    cluster.down("gpu1")
    provider.end(1)
    assert patiently(provider.wipe, 1).method == "never_opened"
    assert cluster.reservations() == []
    assert provider.reserve(spec(nodes[1])).running


def test_a_node_that_comes_back_lets_the_buyer_in_again(
    cluster: Cluster, nodes: list[tuple[CardSpec, ...]]
) -> None:
    provider = driver()
    cards = nodes[0] + nodes[1]
    opened(provider, cards)
    cluster.down("gpu2")
    assert {card.node for card in provider.health((1,))[1].cards} == {"gpu1"}
    cluster.up("gpu2")
    provider.health((1,))
    cluster.wait(
        lambda: "gpu2" in cluster.run("squeue", "-h", "-a", "-t", "R", "-o", "%N"), "a holder on gpu2"
    )
    assert differences(cards, patiently(provider.verify, 1)) == []


def test_names_that_a_buyer_chooses_mislead_nobody(
    cluster: Cluster, nodes: list[tuple[CardSpec, ...]]
) -> None:
    """What is read is asked for by our names and told without them."""
    provider = driver()
    machine = opened(provider, nodes[0])
    for name in ("x|y|z", "a\n99|RUNNING|root|anchor_2|gpu2", "anchor_2", "anchor_1_wipe"):
        cluster.run(
            *("runuser", "-u", machine.account, "--", "sbatch", f"--job-name={name}", "--chdir=/"),
            *("--output=/dev/null", "--reservation=anchor_1", "--partition=lots", "--wrap", "sleep 60"),
            check=True,
        )
    assert differences(nodes[0], provider.health((1,))[1].cards) == []
    provider.reserve(spec(nodes[1], lease_id=2))
    assert [job.nodes for job in provider.controller.jobs_named("anchor_1")] == [("gpu1",)]
    patiently(provider.prepare, 2)
    provider.end(1)
    assert patiently(provider.wipe, 1).method == "wipe"


def test_an_extension_moves_the_holder_and_the_keys(
    cluster: Cluster, nodes: list[tuple[CardSpec, ...]]
) -> None:
    provider = driver()
    machine = opened(provider, nodes[0])
    later = machine.ends_at + timedelta(days=7)
    provider.extend(1, later)
    ends = cluster.run("squeue", "-h", "-a", "-o", "%e").strip()
    assert ends == f"{later + timedelta(seconds=1):%Y-%m-%dT%H:%M:%S}"
    line = (cluster.folder / "keys" / machine.account).read_text()
    assert f'expiry-time="{later - timedelta(minutes=30):%Y%m%d%H%M%S}Z"' in line


def test_a_wipe_that_fails_is_done_again_and_one_that_lasts_is_waited_for(
    cluster: Cluster, nodes: list[tuple[CardSpec, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = driver()
    opened(provider, nodes[0])
    provider.end(1)
    (cluster.folder / "wipe-fails").touch()
    with pytest.raises(ProviderUnavailable, match="did not succeed: FAILED, exit code 1:0"):
        patiently(provider.wipe, 1)
    (cluster.folder / "wipe-fails").unlink()
    (cluster.folder / "wipe-seconds").write_text("2")
    monkeypatch.setattr(wiping, "WAIT_SECONDS", 0.5)
    with pytest.raises(NotYet):
        provider.wipe(1)
    assert patiently(provider.wipe, 1).method == "wipe"
    assert provider.living() == ()


def test_a_reservation_without_a_record_is_taken_up(
    cluster: Cluster, nodes: list[tuple[CardSpec, ...]]
) -> None:
    """As after a restored backup: the cluster knows more than we do."""
    provider = driver()
    opened(provider, nodes[0])
    SlurmMachine.objects.all().delete()
    assert provider.living() == (1,)
    record = provider.observe(1)
    assert record is not None
    assert record.running
    assert differences(nodes[0], provider.health((1,))[1].cards) == []
    provider.end(1)
    assert len(patiently(provider.wipe, 1).cards) == 8
    assert cluster.reservations() == []


def test_the_engine_alone_ends_what_we_do_not(cluster: Cluster, nodes: list[tuple[CardSpec, ...]]) -> None:
    """We are away when the time is over: Slurm's own sweep ends the jobs, within about half a minute."""
    provider = driver()
    opened(provider, nodes[0], hours=0, seconds=4)
    cluster.wait(lambda: cluster.reservations() == [], "Slurm to end the reservation", seconds=60)
    assert cluster.run("squeue", "-h", "-a", "-t", "R").strip() == ""
    assert cluster.events() == ["began anchor_1", "ended anchor_1"], "the hooks tell us"
    record = provider.observe(1)
    assert record is not None
    assert (record.running, record.living) == (False, True)
    with pytest.raises(ProviderRefused, match="overlaps"):
        provider.reserve(spec(nodes[0], lease_id=2))
    provider.end(1)
    assert patiently(provider.wipe, 1).method == "wipe"
    assert provider.reserve(spec(nodes[0], lease_id=2)).running
