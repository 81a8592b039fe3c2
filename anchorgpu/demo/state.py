"""Where a demo keeps what it must find again: everything lies under var/."""

import fcntl
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from anchorgpu.services.errors import ServiceError


@dataclass(frozen=True)
class State:
    """The files of one demo."""

    folder: Path

    @property
    def env_file(self) -> Path:
        return self.folder / "env"

    @property
    def lock_file(self) -> Path:
        return self.folder / "lock"

    @property
    def notes_file(self) -> Path:
        """What `demo_setup` said: shown in the block that ends the start."""
        return self.folder / "demo-notes"

    @property
    def networks_file(self) -> Path:
        return self.folder / "networks.toml"

    @property
    def chain_state(self) -> Path:
        return self.folder / "anvil.json"

    def log(self, name: str) -> Path:
        return self.folder / "log" / f"{name}.log"

    def secret(self, name: str) -> Path:
        return self.folder / "secrets" / name

    def lock(self) -> IO[str]:
        """Only one demo runs in a folder. The lock goes with the process, however it ends."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.lock_file.open("a+", encoding="ascii")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            other = file.read().strip()
            file.close()
            raise ServiceError(
                f"A demo already runs in this folder (process {other or 'unknown'}): "
                + (f"stop it first with Ctrl-C or `kill {other}`." if other else "stop it first.")
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        return file

    def reset(self) -> None:
        """Forgets everything but the lock, which is held."""
        for path in self.folder.iterdir():
            if path == self.lock_file:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
