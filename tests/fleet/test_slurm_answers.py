"""Slurm's answers are read strictly. The lines are those of Slurm 22.05 on four nodes of eight cards."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fleet.providers.base import ProviderRefused, ProviderUnavailable
from fleet.providers.slurm import answers
from fleet.providers.slurm.answers import SeenCard
from fleet.providers.slurm.config import Config
from fleet.providers.slurm.controller import ceil_second
from fleet.providers.slurm.tools import NotFound, failure

RESERVATION = (
    "ReservationName=anchor_1 StartTime=2026-12-01T10:59:33 EndTime=2026-12-01T12:59:33 Duration=02:00:00 "
    "Nodes=gpu[1-2] NodeCnt=2 CoreCnt=32 Features=(null) PartitionName=(null) Flags=SPEC_NODES TRES=cpu=32 "
    "Users=lease01 Groups=(null) Accounts=(null) Licenses=(null) State=ACTIVE BurstBuffer=(null) Watts=n/a\n"
)
NODE = (
    "NodeName=gpu2 Arch=x86_64 CPUTot=16 Gres=gpu:h200:8(S:0-1) NodeAddr=127.0.0.1 State={state} ThreadsPerCore=1 "
    "Partitions=lots AllocTRES= Reason=a fan is dead [root@2026-12-01T11:02:14] Comment=x Extra={extra}\n"
)
JOB = "JobId=1 JobState=RUNNING NodeList=gpu[1-2] JOB_GRES=gpu:h200:16   Nodes=gpu[1-2] CPU_IDs=0-15 Mem=0 "


def ours(name: str) -> bool:
    return name.startswith("anchor_")


@pytest.fixture
def slurm() -> Config:
    return Config(
        accounts=("lease01",),
        models={"h200": "h200-sxm-141", "NVIDIA H200": "h200-sxm-141"},
        partition="lots",
        prefix="anchor_",
        operator="",
        keys_dir=Path("/keys"),
        login_host="login.example",
        login_port=22,
        login_host_key="",
        cards_command="/usr/bin/nvidia-smi",
        wipe_command="/usr/local/sbin/wipe",
        wipe_minutes=15,
    )


def test_a_reservation() -> None:
    foreign = RESERVATION.replace("anchor_1", "maint").replace("EndTime=", "Comment=until EndTime=")
    (found,) = answers.reservations(foreign + RESERVATION, wanted=ours)
    assert (found.name, found.nodes, found.users) == ("anchor_1", ("gpu1", "gpu2"), ("lease01",))
    assert found.ends_at == datetime(2026, 12, 1, 12, 59, 33, tzinfo=UTC)
    assert answers.reservations("No reservations in the system\n", wanted=ours) == []


@pytest.mark.parametrize(
    "line",
    [
        RESERVATION.replace("NodeCnt=2", "NodeCnt=3"),
        RESERVATION.replace("EndTime=2026-12-01T12:59:33", "EndTime=Unknown"),
        RESERVATION.replace("Users=lease01 ", ""),
        RESERVATION.replace("gpu[1-2]", "gpu[1-x]"),
        "ReservationName=anchor_1 and something else entirely\n",
        "something else entirely\n",
    ],
)
def test_a_reservation_that_cannot_be_read_is_no_answer(line: str) -> None:
    with pytest.raises(ProviderUnavailable, match="cannot be read"):
        answers.reservations(line, wanted=ours)


@pytest.mark.parametrize(
    ("state", "is_away"),
    [
        ("IDLE", False),
        ("ALLOCATED+RESERVED", False),
        ("MIXED+DRAIN", False),
        ("DOWN+RESERVED", True),
        ("IDLE*", True),
        ("IDLE+RESERVED+NOT_RESPONDING", True),
        ("DOWN*+DRAIN", True),
        ("IDLE+DRAIN+INVALID_REG", True),
    ],
)
def test_which_nodes_are_away(state: str, is_away: bool) -> None:
    (found,) = answers.nodes(NODE.format(state=state, extra=""))
    assert found.is_away == is_away
    assert (found.gres_type, found.gres_count) == ("h200", 8)
    assert found.reason == "a fan is dead [root@2026-12-01T11:02:14]"


def test_what_a_node_notes_of_its_cards() -> None:
    (found,) = answers.nodes(
        NODE.format(state="IDLE", extra="cards=0/165/NVIDIA_H200/ok;1/166/NVIDIA_H200/ill;")
    )
    assert found.cards == (SeenCard(0, "165", "NVIDIA_H200", True), SeenCard(1, "166", "NVIDIA_H200", False))
    assert answers.nodes(NODE.format(state="IDLE", extra="cards="))[0].cards == ()
    assert answers.nodes(NODE.format(state="IDLE", extra='{"rack":1}'))[0].cards is None, (
        "somebody else's note"
    )
    broken = answers.nodes(NODE.format(state="IDLE", extra="cards=0/165/NVIDIA_H200"))
    assert broken[0].cards is None, "one node's broken note does not make the cluster silent"


def test_jobs_and_what_they_were_given() -> None:
    (found,) = answers.jobs("12|RUNNING|lease01|anchor_1|gpu[1-2]\n")
    assert (found.job_id, found.state, found.nodes) == (12, "RUNNING", ("gpu1", "gpu2"))
    assert answers.jobs("") == []
    assert [job.job_id for job in answers.jobs("7_3|PENDING|a||\n8+0|PENDING|a|(null)|\n")] == [7, 8]
    with pytest.raises(ProviderUnavailable):
        answers.jobs("12|a|b\n")
    assert answers.granted_gres(JOB + "GRES=gpu:h200:8(IDX:0-7) MinCPUsNode=1") == {
        "gpu1": ("h200", 8),
        "gpu2": ("h200", 8),
    }
    assert answers.granted_gres(JOB + "GRES= MinCPUsNode=1") == {"gpu1": ("", 0), "gpu2": ("", 0)}
    assert answers.granted_gres(JOB + "GRES=gpu:8 MinCPUsNode=1")["gpu1"] == ("", 8)


@pytest.mark.parametrize(
    ("hosts", "names"),
    [
        ("", []),
        ("login1", ["login1"]),
        ("gpu[1-3,7]", ["gpu1", "gpu2", "gpu3", "gpu7"]),
        ("gpu[09-10],login", ["gpu09", "gpu10", "login"]),
    ],
)
def test_host_lists(hosts: str, names: list[str]) -> None:
    assert answers.expand(hosts) == names


def test_the_cards_that_nodes_show() -> None:
    text = (
        "1: node gpu2\n0: node gpu1\n0: 0, 165, GPU-a, NVIDIA H200, 0\n"
        "1: 0, [N/A], GPU-b, NVIDIA H200, [N/A]\n0: 1, 166, GPU-c, NVIDIA H200, 2\n"
    )
    found = answers.cards_by_node(text)
    assert found["gpu1"] == (
        SeenCard(0, "165", "NVIDIA H200", True),
        SeenCard(1, "166", "NVIDIA H200", False),
    )
    assert found["gpu2"] == (SeenCard(0, "GPU-b", "NVIDIA H200", True),), "without a number its uuid counts"
    for odd in ("no label\n", "0: 0, 165, GPU-a, NVIDIA H200, 0\n", "0: node gpu1\n0: Driver mismatch\n"):
        with pytest.raises(ProviderUnavailable):
            answers.cards_by_node(odd)


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        (
            "Error creating the reservation: Requested reservation overlaps with another reservation",
            ProviderRefused,
        ),
        ("delete_reservation reservation=x: Requested reservation is in use", ProviderRefused),
        ("Reservation nope not found", NotFound),
        ("slurm_load_jobs error: Invalid job id specified", NotFound),
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", ProviderUnavailable),
        ("a sentence of a Slurm to come", ProviderUnavailable),
        ("", ProviderUnavailable),
    ],
)
def test_only_known_sentences_are_a_refusal(sentence: str, kind: type[Exception]) -> None:
    assert type(failure("scontrol", 1, sentence)) is kind


def test_words_of_the_cluster_and_ours(slurm: Config) -> None:
    assert slurm.model_of("NVIDIA_H200") == slurm.model_of("h200") == "h200-sxm-141"
    assert slurm.model_of("NVIDIA A10") == "NVIDIA A10"
    assert slurm.lease_of("anchor_17") == 17
    assert [slurm.lease_of(name) for name in ("anchor_", "anchor_x", "other_1", "anchor_1_wipe")] == [
        None
    ] * 4


def test_times_of_the_engine_are_never_earlier() -> None:
    moment = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
    assert ceil_second(moment) == moment
    assert ceil_second(moment.replace(microsecond=1)) == moment.replace(second=1)
