"""The fleet as an import of a Slurm cluster makes it, from what `scontrol show node` prints."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from catalog.import_file import FileRefused
from catalog.import_plan import InUse
from catalog.models import Accelerator
from catalog.selectors import lots_on_sale
from catalog.services.import_catalog import preview_import
from catalog.services.seed import seed_catalog
from core.models import AuditEntry, Decision
from fleet.lifecycle import LeaseStatus
from fleet.models import Node
from fleet.providers.slurm.tools import Tools
from fleet.selectors import cards_of_hold
from fleet.services.add_node import add_node
from tests.factories.catalog import AcceleratorFactory, LotFactory
from tests.factories.fleet import make_lease

pytestmark = pytest.mark.django_db
SLUG = "h200-sxm-141"
Run = Callable[..., str]


def line(
    name: str, *, state: str = "IDLE", gres: str = "gpu:h200:8(S:0)", cards: int = 8, partitions: str = "lots"
) -> str:
    shown = "".join(f"{n}/{name}-{n}/NVIDIA_H200/ok;" for n in range(cards))
    return (
        f"NodeName={name} Arch=x86_64 CPUTot=16 Gres={gres} State={state} Partitions={partitions} "
        f"Reason=a fan is dead [root@2026-12-01T11:02:14] Extra=cards={shown}"
    )


@pytest.fixture
def said(settings: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What Slurm says of each node; a test changes it."""
    settings.PROVIDER = "slurm"
    settings.SLURM_MODELS = {"h200": SLUG, "NVIDIA H200": SLUG}
    settings.SLURM_PARTITION = "lots"
    nodes = {name: line(name) for name in ("gpu1", "gpu2")}
    monkeypatch.setattr(Tools, "run", lambda _self, *_command, **_values: "\n".join(nodes.values()))
    AcceleratorFactory.create(slug=SLUG, board_power_w=700)
    return nodes


@pytest.fixture
def run(said: dict[str, str]) -> Run:
    def command(*arguments: str) -> str:
        out = StringIO()
        call_command("import_slurm", *arguments, stdout=out)
        return out.getvalue()

    return command


def first(run: Run) -> str:
    return run("--apply", "--site", "Hall 2", "--driver", "580.95.05")


def test_a_look_writes_nothing_and_a_second_import_finds_nothing(run: Run) -> None:
    shown = run()
    assert shown.splitlines()[:2] == [f"add       gpu{n}: 8 cards of {SLUG}" for n in (1, 2)]
    assert not Node.objects.exists()
    with pytest.raises(CommandError, match="--site and --driver"):
        run("--apply")
    first(run)
    node = Node.objects.get(name="gpu1")
    assert (node.site, node.driver_version, node.accelerator.slug) == ("Hall 2", "580.95.05", SLUG)
    assert list(node.cards.values_list("serial", flat=True)) == [f"gpu1-{n}" for n in range(8)]
    assert run() == "The fleet is what the cluster has.\n"


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        (line("gpu1", gres="(null)"), "Slurm has no cards"),
        (line("gpu1", cards=7), "shows 7 of the 8 cards"),
        (line("gpu1").partition(" Extra=")[0], "has not told its cards"),
        (
            line("gpu1").replace("h200:8", "h100:8"),
            "SLURM_MODELS does not say which accelerator this is: h100",
        ),
        (line("GPU1"), "lower-case letters"),
        (line("gpu1").replace("x86_64", "aarch64"), "hosts of the architecture x86_64"),
    ],
)
def test_what_cannot_be_sold_is_refused_and_the_others_go_on(
    said: dict[str, str], run: Run, shown: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said["gpu1"] = shown
    out = StringIO()
    with pytest.raises(CommandError, match="1 node cannot be sold"):
        call_command("import_slurm", "--apply", "--site", "x", "--driver", "580", stdout=out)
    assert why in out.getvalue()
    assert [node.name for node in Node.objects.all()] == ["gpu2"]


def test_nodes_of_other_partitions_are_not_looked_at(said: dict[str, str], run: Run) -> None:
    said["gpu2"] = line("gpu2", partitions="research")
    first(run)
    assert [node.name for node in Node.objects.all()] == ["gpu1"]


def test_a_drained_node_goes_off_sale_and_is_a_decision_while_a_lease_needs_it(
    said: dict[str, str], run: Run
) -> None:
    first(run)
    lease = make_lease(LotFactory.create(accelerator=Accelerator.objects.get(slug=SLUG), cards=8))
    name = cards_of_hold(lease.hold_id)[0].node.name
    other = "gpu2" if name == "gpu1" else "gpu1"
    said.update({entry: line(entry, state="IDLE+DRAIN") for entry in ("gpu1", "gpu2")})
    assert f"off sale  {name}: a fan is dead" in run()
    assert Node.objects.filter(in_service=True).count() == 2
    run("--apply")
    assert not Node.objects.filter(in_service=True).exists()
    decision = Decision.objects.get(kind="node_drained", closed_at=None)
    assert decision.subject == f"node:{name}"
    assert decision.facts["leases"] == [lease.username]
    assert AuditEntry.objects.filter(action="node.maintenance", subject=f"node:{other}").exists()

    said[name] = line(name)
    run("--apply")
    assert Node.objects.get(name=name).in_service
    assert not Decision.objects.filter(kind="node_drained", closed_at=None).exists()
    assert not Node.objects.get(name=other).in_service


def test_a_decision_that_staff_have_noted_is_not_asked_again_and_goes_with_its_lease(
    said: dict[str, str], run: Run
) -> None:
    first(run)
    lease = make_lease(LotFactory.create(accelerator=Accelerator.objects.get(slug=SLUG), cards=8))
    said.update({name: line(name, state="MIXED+DRAIN") for name in said})
    run("--apply")
    Decision.objects.filter(kind="node_drained").update(closed_at="2026-12-01T12:00Z", closed_by="ada")
    run("--apply")
    assert not Decision.objects.filter(kind="node_drained", closed_at=None).exists()
    Decision.objects.filter(kind="node_drained").update(closed_at=None)
    type(lease).objects.filter(pk=lease.pk).update(status=LeaseStatus.CLOSED)
    run("--apply")
    assert not Decision.objects.filter(kind="node_drained", closed_at=None).exists()


def test_a_node_that_is_down_is_taken_off_sale_until_it_answers(said: dict[str, str], run: Run) -> None:
    first(run)
    said["gpu1"] = line("gpu1", state="DOWN*")
    assert "away      gpu1: it does not answer Slurm" in run()
    run("--apply")
    assert not Node.objects.get(name="gpu1").healthy
    assert Decision.objects.filter(kind="node_away", subject="node:gpu1", closed_at=None).exists()
    said["gpu1"] = line("gpu1")
    run("--apply")
    assert Node.objects.get(name="gpu1").healthy
    assert not Decision.objects.filter(kind="node_away", closed_at=None).exists()


def test_what_a_person_has_taken_off_sale_stays_so(said: dict[str, str], run: Run) -> None:
    first(run)
    Node.objects.filter(name="gpu1").update(in_service=False, note="Ada looks at it")
    del said["gpu2"]
    run("--apply")
    assert not Node.objects.get(name="gpu1").in_service
    gone = Node.objects.get(name="gpu2")
    assert (gone.in_service, gone.note) == (False, "Slurm: it is not in the partition")


def test_other_cards_are_shown_and_left_to_a_person(said: dict[str, str], run: Run) -> None:
    first(run)
    said["gpu1"] = line("gpu1").replace("/gpu1-3/", "/spare-1/")
    assert "differs   gpu1: its cards are gpu1-0, gpu1-1, gpu1-2, spare-1" in run("--apply")
    assert not Node.objects.get(name="gpu1").cards.filter(serial="spare-1").exists()


def test_a_lot_of_a_part_is_refused_by_import_and_catalogue_and_not_offered(
    said: dict[str, str], run: Run, settings: Any
) -> None:
    Accelerator.objects.all().delete()
    seed_catalog()
    with pytest.raises(CommandError):
        first(run)
    assert not Node.objects.exists()
    accelerator = Accelerator.objects.get(slug=SLUG)
    accelerator.lots.exclude(cards=8).update(on_sale=False)
    first(run)

    part = accelerator.lots.get(cards=2)
    part.on_sale = True
    with pytest.raises(ValidationError, match="whole nodes, and a node of this accelerator has 8 cards"):
        part.full_clean()
    accelerator.lots.update(on_sale=True)
    sold = {entry.code for entry in lots_on_sale() if entry.accelerator_slug == SLUG}
    assert sold == {f"{SLUG}x8"}, "a row that slipped through is not offered"
    settings.PROVIDER = "simulated"
    part.full_clean()
    assert len({entry.code for entry in lots_on_sale() if entry.accelerator_slug == SLUG}) > 1


def test_a_file_of_the_catalogue_adds_no_part(said: dict[str, str], run: Run) -> None:
    first(run)
    document = {"accelerators": [{"slug": SLUG, "cards_per_lot": [2, 8]}]}
    with pytest.raises(FileRefused) as refused:
        preview_import(content=json.dumps(document).encode(), in_use=lambda: InUse({}))
    assert ["whole nodes" in str(error.text) for error in refused.value.errors] == [True]


def test_the_catalogue_is_loaded_again_after_the_import(said: dict[str, str], run: Run) -> None:
    first(run)
    seed_catalog()
    on_sale = Accelerator.objects.get(slug=SLUG).lots.filter(on_sale=True)
    assert [lot.cards for lot in on_sale] == [8]


def test_nodes_of_two_sizes_cannot_be_sold_whole(said: dict[str, str], run: Run) -> None:
    first(run)
    with pytest.raises(Exception, match="node_size_differs"):
        add_node(
            name="gpu9",
            site="x",
            accelerator=SLUG,
            host_arch="x86_64",
            driver_version="580",
            serials=["a", "b"],
            actor="ada",
        )
