"""The start of the demo: its state, its secrets, and what it refuses."""

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from anchorgpu.demo import __main__ as demo
from anchorgpu.demo import environment, options, prepare
from anchorgpu.demo.environment import Ports
from anchorgpu.demo.state import State
from anchorgpu.env import read_env
from anchorgpu.env_file import read_env_file
from anchorgpu.services.anvil import Anvil
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.ports import free_port, reserve_free
from anchorgpu.services.postgres import Postgres
from anchorgpu.services.process import Process
from anchorgpu.services.valkey import Valkey
from core.models import SweepRun
from fleet.gateway import heartbeat
from tests.anchorgpu.processes import wait_for
from tests.environment import NETWORKS


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "var")


@pytest.fixture
def taken_port() -> Iterator[int]:
    port = free_port()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", port))
        listener.listen()
        yield port


def test_second_start_in_a_folder_is_refused(state: State) -> None:
    lock = state.lock()
    with pytest.raises(ServiceError, match=rf"already runs in this folder \(process {os.getpid()}\)"):
        state.lock()
    lock.close()
    state.lock().close()


@pytest.mark.parametrize("option", ["--port", "--ssh-port"])
def test_port_in_use_is_named_with_its_option(state: State, taken_port: int, option: str) -> None:
    arguments = [option, str(taken_port)]
    if option == "--ssh-port":
        arguments += ["--port", str(free_port())]
    with pytest.raises(ServiceError) as caught:
        demo._reserve_ports(options.parse(arguments), state)
    assert str(caught.value).startswith(f"Port {taken_port} is in use by another program")
    assert f"bin/demo {option} " in str(caught.value)


def _ssh_port(state: State) -> int:
    reserved = demo._reserve_ports(options.parse(["--port", str(free_port())]), state)
    reserved.http.close()
    reserved.ssh.close()
    return reserved.ssh.port


def test_ssh_port_of_the_last_start_is_kept(state: State, taken_port: int) -> None:
    former = free_port()
    environment.publish(state, {"SSH_PORT": str(former)})
    assert _ssh_port(state) == former
    environment.publish(state, {"SSH_PORT": str(taken_port)})
    assert _ssh_port(state) != taken_port


def test_two_demos_that_start_at_once_have_different_ports(state: State, tmp_path: Path) -> None:
    preferred = free_port()
    other = State(tmp_path / "other")
    for each in (state, other):
        environment.publish(each, {"SSH_PORT": str(preferred)})
    first = demo._reserve_ports(options.parse(["--port", str(free_port())]), state)
    assert first.ssh.port == preferred
    assert _ssh_port(other) != preferred
    with pytest.raises(ServiceError, match=rf"^Port {first.http.port} is in use by another demo; choose"):
        demo._reserve_ports(options.parse(["--port", str(first.http.port)]), other)
    first.http.close()
    first.ssh.close()


def test_gateway_whose_port_went_to_another_program_is_one_sentence(tmp_path: Path, taken_port: int) -> None:
    gateway = Process(name="The SSH gateway", command=["false"], log_file=tmp_path / "log")
    demo._explain_gateway(gateway, taken_port)  # it runs, or was not reached: not its fault
    gateway.start()
    wait_for(lambda: gateway.exit_code is not None, seconds=10, what="end of the gateway")
    with pytest.raises(ServiceError) as caught:
        demo._explain_gateway(gateway, taken_port)
    assert str(caught.value).startswith(
        f"The SSH gateway cannot listen: port {taken_port} is in use by another program; choose another"
    )
    assert "\n" not in str(caught.value)
    demo._explain_gateway(gateway, free_port())  # its own last words tell then


@pytest.mark.django_db
def test_sign_of_life_of_the_last_run_is_forgotten() -> None:
    SweepRun.objects.create(name=heartbeat.NAME)
    prepare._forget_gateway()
    assert not SweepRun.objects.exists()


@pytest.mark.parametrize("text", ["0", "65536", "http", "-1"])
def test_port_must_be_one(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        options.parse(["--port", text])
    assert caught.value.code == 2
    assert "a port" in capsys.readouterr().err or text == "-1"


def test_secrets_are_made_once_and_are_private(state: State) -> None:
    environment.make_secrets(state)
    secrets = sorted((state.folder / "secrets").iterdir())
    before = {file.name: file.read_text(encoding="utf-8") for file in secrets}
    assert set(before) == {
        "secret-key",
        "quote-keys.json",
        "ssh_host_key",
        "card-webhook-secret",
        "deposit-xpub",
        "staff-password",
    }
    assert {stat.S_IMODE(file.stat().st_mode) for file in secrets} == {0o600}
    environment.make_secrets(state)
    assert {file.name: file.read_text(encoding="utf-8") for file in secrets} == before
    state.reset()
    environment.make_secrets(state)
    after = {file.name: file.read_text(encoding="utf-8") for file in secrets}
    assert all(after[name] != before[name] for name in before)


def test_settings_of_the_demo_are_whole(state: State, tmp_path: Path) -> None:
    """What is written to var/env is what the program accepts."""
    environment.make_secrets(state)
    state.networks_file.write_text(NETWORKS, encoding="utf-8")
    postgres = Postgres(folder=state.folder / "postgres", log_file=tmp_path / "log", port=5433)
    postgres.data.parent.mkdir()
    (postgres.data.parent / "password").write_text("p/w", encoding="ascii")
    valkey = Valkey(folder=state.folder / "valkey", log_file=tmp_path / "log", port=6380)
    chain = Anvil(log_file=tmp_path / "log", port=8546)
    ports = Ports(http=reserve_free(), ssh=reserve_free())
    values = environment.settings(state, ports=ports, postgres=postgres, valkey=valkey, chain=chain)
    environment.publish(state, values)
    assert stat.S_IMODE(state.env_file.stat().st_mode) == 0o600
    env = read_env(read_env_file(state.env_file))
    assert env.demo
    assert env.site_url == f"http://127.0.0.1:{ports.http.port}"
    assert env.database["PASSWORD"] == "p/w"
    assert env.ssh_listen == ("127.0.0.1", ports.ssh.port)


def test_other_installations_settings_do_not_reach_the_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", "smtp://mail.example")
    monkeypatch.setenv("ADDRESS_POOL_SIZE", "7")
    child = environment.child_environment({"DATABASE_URL": "postgresql://demo"})
    assert "EMAIL_URL" not in child
    assert child["DATABASE_URL"] == "postgresql://demo"
    assert child["ADDRESS_POOL_SIZE"] == "7"


def test_full_disk_is_one_sentence() -> None:
    error = OSError(28, "No space left on device", "var/env")
    assert demo._sentence(error) == "The disk is full: var/env cannot be written; free some space."
