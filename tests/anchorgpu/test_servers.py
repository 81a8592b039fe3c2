"""The embedded servers: started, killed, started again, stopped."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from anchorgpu.services import ports, privileges
from anchorgpu.services.anvil import Anvil
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.postgres import Postgres
from anchorgpu.services.process import Process
from anchorgpu.services.valkey import Valkey
from tests.anchorgpu.processes import descendants, is_alive, wait_for

# Under root every way to run without its rights is tried, wherever it works here.
MODES = [privileges.Mode.DIRECT] if os.geteuid() else [privileges.mode(), privileges.Mode.NOBODY]


@pytest.fixture(params=dict.fromkeys(MODES), ids=lambda how: how.name)
def postgres(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Postgres]:
    server = Postgres(folder=tmp_path / "pg", log_file=tmp_path / "pg.log", how=request.param)
    yield server
    server.stop()


def _count(server: Postgres) -> int:
    with psycopg.connect(server.url("shop")) as connection:
        row = connection.execute("SELECT count(*) FROM orders").fetchone()
    assert row is not None
    return int(row[0])


def test_postgres_finds_its_rows_after_kill_9(postgres: Postgres) -> None:
    postgres.start()
    postgres.create_database("shop")
    postgres.create_database("shop")  # may be repeated
    with psycopg.connect(postgres.url("shop")) as connection:
        connection.execute("CREATE TABLE orders AS SELECT generate_series(1, 200) AS id")
    below = descendants(postgres.process.pid)
    assert below
    os.kill(postgres.process.pid, signal.SIGKILL)
    postgres.process.kill()
    assert (postgres.data / "postmaster.pid").exists()
    postgres.start()
    assert _count(postgres) == 200
    assert not [pid for pid in below if is_alive(pid)]
    postgres.stop()
    assert postgres.process.exit_code == 0
    postgres.start()
    assert _count(postgres) == 200


def test_postgres_is_what_the_product_needs(postgres: Postgres) -> None:
    postgres.start()
    with psycopg.connect(postgres.url("postgres")) as connection:
        for extension in ("btree_gist", "pg_trgm", "unaccent"):
            connection.execute(f"CREATE EXTENSION {extension}".encode())
        row = connection.execute(
            "SELECT current_setting('listen_addresses'), datlocprovider, datlocale, upper('ä'), "
            "current_setting('TimeZone'), current_setting('fsync') "
            "FROM pg_database WHERE datname = 'postgres'"
        ).fetchone()
    assert row == ("127.0.0.1", "b", "C.UTF-8", "Ä", "UTC", "on")
    url = postgres.url("postgres")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url.replace(url.split(":")[2].split("@")[0], "guessed"))


def test_postgres_with_the_pid_file_of_another_program(postgres: Postgres) -> None:
    """After a restart of the machine the pid in the file may be anybody's: here this test's own."""
    postgres.start()
    postgres.process.kill()
    pid_file = postgres.data / "postmaster.pid"
    lines = pid_file.read_text(encoding="utf-8").splitlines()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n", encoding="utf-8")
    postgres.start()
    assert postgres.process.is_running


def test_postgres_ends_an_orphan_of_its_own_folder(postgres: Postgres, tmp_path: Path) -> None:
    postgres.start()
    orphan = postgres.process.pid
    second = Postgres(folder=tmp_path / "pg", log_file=tmp_path / "pg.log", how=postgres._how)
    second.start()
    try:
        wait_for(lambda: postgres.process.exit_code is not None, seconds=5, what="end of the first")
        assert second.process.pid != orphan
    finally:
        second.stop()


def test_postgres_without_a_place_to_write(tmp_path: Path) -> None:
    (tmp_path / "pg").write_text("a file where the folder should be", encoding="utf-8")
    server = Postgres(folder=tmp_path / "pg", log_file=tmp_path / "pg.log")
    with pytest.raises(OSError, match="exists"):
        server.start()


def test_valkey_keeps_what_it_was_given(tmp_path: Path) -> None:
    server = Valkey(folder=tmp_path / "valkey", log_file=tmp_path / "valkey.log")
    server.start()
    try:
        with redis.Redis.from_url(server.url) as client:
            client.set("key", "value")
        with (
            redis.Redis(host="127.0.0.1", port=server.port) as stranger,
            pytest.raises(redis.AuthenticationError),
        ):
            stranger.get("key")
        server.stop()
        server.start()
        with redis.Redis.from_url(server.url) as client:
            assert client.get("key") == b"value"
    finally:
        server.stop()


def test_chain_forgets_what_is_reverted(anvil: Anvil) -> None:
    before = anvil.rpc("eth_blockNumber")
    snapshot = anvil.snapshot()
    anvil.mine(3)
    assert anvil.rpc("eth_blockNumber") != before
    anvil.revert(snapshot)
    assert anvil.rpc("eth_blockNumber") == before


def test_chain_remembers_with_a_state_file(tmp_path: Path) -> None:
    chain = Anvil(log_file=tmp_path / "anvil.log", state_file=tmp_path / "anvil.json")
    chain.start()
    try:
        chain.mine(7)
        height = int(chain.rpc("eth_blockNumber"), 16)
        chain.stop()
        chain.start()
        assert int(chain.rpc("eth_blockNumber"), 16) >= height >= 7
    finally:
        chain.stop()


def test_program_that_ends_while_it_starts_tells_its_last_words(tmp_path: Path) -> None:
    process = Process(
        name="The dummy",
        command=["sh", "-c", "echo it hurts; exit 3"],
        log_file=tmp_path / "log",
    )
    process.start()
    with pytest.raises(ServiceError, match=r"The dummy ended while it started \(code 3\)[\s\S]*it hurts"):
        process.wait_until(lambda: False, seconds=5)


def test_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    process = Process(name="The dummy", command=["/nowhere/program"], log_file=tmp_path / "log")
    with pytest.raises(ServiceError, match="The dummy cannot be started: No such file or directory"):
        process.start()


def test_stop_ends_what_outlived_its_leader(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {pid_file}; exit 0"
    process = Process(name="The dummy", command=["sh", "-c", script], log_file=tmp_path / "log")
    process.start()
    wait_for(lambda: process.exit_code == 0, seconds=5, what="end of the leader")
    left = int(pid_file.read_text(encoding="ascii"))
    assert is_alive(left)
    process.stop()
    wait_for(lambda: not is_alive(left), seconds=5, what="end of the rest")


def test_port_in_use_is_seen_and_passed_over(tmp_path: Path) -> None:
    server = Valkey(folder=tmp_path / "valkey", log_file=tmp_path / "valkey.log")
    server.start()
    try:
        assert ports.port_problem(server.port) == "is in use by another program"
        free = ports.free_port(preferred=server.port)
        assert free != server.port
        assert ports.LOWEST <= free <= ports.HIGHEST
        assert ports.free_port(preferred=free) == free
    finally:
        server.stop()


TRY = """
import sys
from anchorgpu.services.ports import PortTaken, Reservation
try:
    Reservation(int(sys.argv[1]))
    print("taken over")
except PortTaken as problem:
    print(problem)
"""


def _other_demo(port: int) -> str:
    """What another process hears that reserves the same port."""
    done = subprocess.run(
        [sys.executable, "-c", TRY, str(port)], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def test_reserved_port_is_in_use_for_everybody_else() -> None:
    reserved = ports.reserve_free()
    assert ports.port_problem(reserved.port) == "is in use by another program"
    assert ports.free_port(preferred=reserved.port) != reserved.port
    assert not ports.accepts_connections(reserved.port)  # who calls is refused and does not wait
    reserved.close()
    assert ports.free_port(preferred=reserved.port) == reserved.port


def test_released_port_is_free_for_the_program_and_closed_to_other_demos() -> None:
    """Between its start and its first listening a program takes seconds."""
    reserved = ports.reserve_free()
    assert _other_demo(reserved.port) == "is in use by another demo"
    reserved.release()
    assert _other_demo(reserved.port) == "is in use by another demo"
    with socket.create_server((ports.LOCALHOST, reserved.port)):
        assert ports.port_problem(reserved.port) == "is in use by another program"
    reserved.close()
    assert _other_demo(reserved.port) == "taken over"


def test_without_a_reservation_two_demos_choose_the_same_port() -> None:
    """The control: a look alone keeps nobody away."""
    port = ports.free_port()
    assert _other_demo(port) == "taken over"
    assert ports.free_port(preferred=port) == port


def test_port_with_lingering_connections_can_be_reserved() -> None:
    """A demo that is started again at once; the lingering ends of its connections are no listener."""
    with socket.create_server((ports.LOCALHOST, 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection((ports.LOCALHOST, port)):
            accepted, _address = server.accept()
            accepted.close()
    with pytest.raises(ports.PortTaken):
        ports._listener(port, is_shared=False)
    reserved = ports.Reservation(port)
    assert ports.port_problem(port) == "is in use by another program"
    reserved.release()
    with socket.create_server((ports.LOCALHOST, port)):
        assert ports.accepts_connections(port)
    reserved.close()
