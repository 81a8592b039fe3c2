"""slurmrestd's answers are read strictly. They are those of Slurm 26.05 on four nodes of eight cards, shortened."""

import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fleet.providers.base import ProviderRefused, ProviderUnavailable
from fleet.providers.slurm.answers import SeenCard
from fleet.providers.slurm.config import Config
from fleet.providers.slurm.controller import Controller
from fleet.providers.slurm.driver import controller_of
from fleet.providers.slurm.rest import RestController
from fleet.providers.slurm.rest_client import RestClient
from fleet.providers.slurm.tools import NotFound

END = datetime(2026, 12, 4, 12, tzinfo=UTC)


def number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


RESERVATION = {
    "name": "anchor_1",
    "node_list": "gpu[1-2]",
    "node_count": 2,
    "users": "lease01",
    "start_time": number(1796125739),
    "end_time": number(1796129339),
}
FOREIGN = {"name": "maintenance", "node_list": "gpu[x"}
NODE = {
    "name": "gpu1",
    "state": ["IDLE", "DRAIN"],
    "gres": "gpu:h200:8",
    "extra": "cards=0/SN-0/NVIDIA_H200/ok;",
    "reason": "a fan is dead",
    "architecture": "x86_64",
    "partitions": ["lots"],
}
JOB = {
    "job_id": 2,
    "name": "anchor_1",
    "job_state": ["RUNNING"],
    "user_name": "lease01",
    "resv_name": "anchor_1",
    "nodes": "gpu[1-2]",
    "gres_detail": ["gpu:h200:8(IDX:0-7)", "gpu:h200:8(IDX:0-7)"],
    "exit_code": {"return_code": number(0), "signal": {"id": {"set": False, "infinite": False, "number": 0}}},
}


class Server:
    """Answers by path, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, object]] = {}
        self.asked: list[tuple[str, str, object]] = []

    def send(self, method: str, path: str, body: Mapping[str, object] | None) -> tuple[int, dict[str, Any]]:
        self.asked.append((method, path, body))
        status, answer = self.answers[path]
        return status, dict(answer) if isinstance(answer, dict) else {}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setattr(RestClient, "_send", lambda _self, *request: made.send(*request))
    made.answers["/reservations/"] = 200, {"reservations": [FOREIGN, RESERVATION], "errors": []}
    made.answers["/nodes/"] = 200, {"nodes": [NODE], "errors": []}
    made.answers["/jobs/"] = (
        200,
        {"jobs": [JOB, JOB | {"job_id": 3, "job_state": ["CANCELLED"]}], "errors": []},
    )
    return made


def config(
    tmp_path: Path = Path("/nowhere"), *, url: str = "http://127.0.0.1:1", driver: str = "rest"
) -> Config:
    return Config(
        accounts=("lease01",),
        models={"h200": "h200-sxm-141"},
        partition="lots",
        prefix="anchor_",
        operator="slurm",
        keys_dir=Path("/keys"),
        login_host="login.example",
        login_port=22,
        login_host_key="",
        cards_command="/usr/bin/nvidia-smi",
        wipe_command="/usr/local/sbin/wipe",
        wipe_minutes=15,
        driver=driver,
        rest_url=url,
        rest_api="v0.0.43",
        rest_token_file=tmp_path / "token",
    )


@pytest.fixture
def rest(server: Server) -> Controller:
    return controller_of(config())


def error(sentence: str) -> dict[str, Any]:
    return {"errors": [{"error_number": 1, "error": sentence, "description": "x"}]}


def test_the_setting_chooses() -> None:
    assert type(controller_of(config())) is RestController
    assert type(controller_of(config(driver="scontrol"))) is Controller


def test_reservations_nodes_and_jobs(rest: Controller) -> None:
    found = rest.reservation("anchor_1")
    assert found is not None
    assert (found.nodes, found.users, found.ends_at) == (
        ("gpu1", "gpu2"),
        ("lease01",),
        datetime(2026, 12, 1, 12, 48, 59, tzinfo=UTC),
    )
    assert rest.reservation("anchor_2") is None
    assert set(rest.reservations()) == {"anchor_1"}, "what is not ours is not read"
    node = rest.nodes(["gpu1"])["gpu1"]
    assert (node.gres_type, node.gres_count, node.is_drained, node.is_away) == ("h200", 8, True, False)
    assert node.cards == (SeenCard(0, "SN-0", "NVIDIA_H200", healthy=True),)
    with pytest.raises(NotFound, match="gpu9"):
        rest.nodes(["gpu1", "gpu9"])
    assert [job.job_id for job in rest.jobs_named("anchor_1")] == [2]
    assert rest.jobs_of("lease02") == []


def test_one_job(rest: Controller, server: Server) -> None:
    server.answers["/job/2"] = 200, {"jobs": [JOB | {"job_state": ["COMPLETED", "COMPLETING"]}], "errors": []}
    assert rest.job_state(2) == ("COMPLETING", "0:0")
    assert rest.granted_gres(2) == {"gpu1": ("h200", 8), "gpu2": ("h200", 8)}
    server.answers["/job/9"] = 404, error("Invalid job id specified")
    assert rest.job_state(9) is None


@pytest.mark.parametrize(
    ("status", "answer", "kind"),
    [
        (422, error("Requested reservation overlaps with another reservation"), ProviderRefused),
        (422, error("Something that nobody knows"), ProviderUnavailable),
        (502, error("Requested reservation overlaps with another reservation"), ProviderUnavailable),
        (500, error("Unspecified error"), ProviderUnavailable),
        (511, error("Unable to authenticate"), ProviderUnavailable),
        (200, error("Invalid node name specified"), ProviderUnavailable),
        (200, "no object", ProviderUnavailable),
    ],
)
def test_only_a_known_no_is_a_refusal(
    rest: Controller, server: Server, status: int, answer: object, kind: type[Exception]
) -> None:
    server.answers["/reservation"] = status, answer
    with pytest.raises(kind) as raised:
        rest.create("anchor_2", nodes=["gpu3"], user="lease01", starts_at=None, ends_at=END)
    assert type(raised.value) is kind


def test_a_create_changes_nothing_that_is_there_and_a_change_creates_nothing(
    rest: Controller, server: Server
) -> None:
    with pytest.raises(ProviderRefused, match="Duplicate"):
        rest.create("anchor_1", nodes=["gpu1"], user="lease01", starts_at=None, ends_at=END)
    with pytest.raises(NotFound):
        rest.move_end("anchor_2", END)
    assert {method for method, _path, _body in server.asked} == {"GET"}
    server.answers["/reservation"] = 200, {"errors": []}
    rest.move_end("anchor_1", END)
    assert server.asked[-1] == ("POST", "/reservation", {"name": "anchor_1", "end_time": number(1796385600)})


@pytest.mark.parametrize(
    "wrong",
    [
        {"node_count": 3},
        {"end_time": {"set": False, "infinite": False, "number": 0}},
        {"users": None},
        {"node_list": "gpu[1-"},
    ],
)
def test_an_odd_answer_is_none(rest: Controller, server: Server, wrong: dict[str, Any]) -> None:
    server.answers["/reservations/"] = 200, {"reservations": [RESERVATION | wrong], "errors": []}
    with pytest.raises(ProviderUnavailable, match="cannot be read"):
        rest.reservations()


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path.endswith("/broken"):
            self.wfile.write(b"nonsense\r\n\r\n")
            return
        seen = {"user": self.headers["X-SLURM-USER-NAME"], "token": self.headers["X-SLURM-USER-TOKEN"]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(seen | {"errors": []}).encode())

    def log_message(self, *_values: Any) -> None:
        """Nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), _Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


def test_on_the_wire(address: str, tmp_path: Path) -> None:
    client = RestClient(url=address, api="v0.0.43", user="slurm", token_file=tmp_path / "token")
    with pytest.raises(ProviderUnavailable, match="SLURM_REST_TOKEN_FILE"):
        client.call("GET", "/x")
    (tmp_path / "token").write_text("SLURM_JWT=abc\n")
    assert client.call("GET", "/x") == {"user": "slurm", "token": "abc", "errors": []}
    (tmp_path / "token").write_text("def")
    assert client.call("GET", "/x")["token"] == "def", "a token that was renewed is used at once"
    with pytest.raises(ProviderUnavailable):
        client.call("GET", "/broken")
    nobody = RestClient(url="http://127.0.0.1:1", api="v0.0.43", user="slurm", token_file=tmp_path / "token")
    with pytest.raises(ProviderUnavailable, match="no answer"):
        nobody.call("GET", "/x")
