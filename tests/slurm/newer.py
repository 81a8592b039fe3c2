"""The same cluster with a Slurm from another folder (bin/slurm-root), and its REST server.

Debian 12 and 13 carry none that makes reservations by REST. Its programs run in that folder as their root, in a mount
namespace of the run's own, so that no mount outlives it.
"""

import ctypes
import re
import secrets
import shutil
import subprocess
from pathlib import Path

from anchorgpu.services.process import Process
from tests.slurm.cluster import WAIT_SECONDS, Cluster

# Debian's number for the account, on every machine.
SLURM_UID = 64030
TOKEN_SECONDS = 3600
_CLONE_NEWNS = 0x00020000  # unshare(2)


class NewerCluster(Cluster):
    """Slurm 25.05 or later, driven by REST. One run at a time for each root."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root.resolve()
        self.inside = ("chroot", str(self._root))
        self._rest: Process
        self._rest_port = 0

    def start(self) -> None:
        super().start()
        token = self.run("scontrol", "token", "username=root", f"lifespan={TOKEN_SECONDS}", check=True)
        (self.folder / "token").write_text(token)
        (self.folder / "token").chmod(0o600)
        self._rest = self._daemon(
            "slurmrestd",
            *(
                *self.inside,
                "setpriv",
                "--reuid=nobody",
                "--regid=nogroup",
                "--clear-groups",
                "--pdeathsig",
                "KILL",
            ),
            *("env", "SLURM_JWT=daemon", "slurmrestd", "-a", "rest_auth/jwt", "-s", "slurmctld"),
            f"127.0.0.1:{self._rest_port}",
        )
        self._others.insert(0, self._rest)
        self._rest.start()
        self._rest.wait_until(self._listens, seconds=WAIT_SECONDS)

    def stop(self) -> None:
        super().stop()
        for name in ("passwd", "group"):
            self._without_accounts(name)

    def settings(self) -> dict[str, str]:
        return super().settings() | {
            "SLURM_DRIVER": "rest",
            "SLURM_REST_URL": f"http://127.0.0.1:{self._rest_port}",
            "SLURM_REST_TOKEN_FILE": str(self.folder / "token"),
        }

    def _prepare(self) -> None:
        self._rest_port = self._port()
        self._mount()
        self._give_keys()
        self._give_accounts()
        text = self.conf.read_text().replace("cred/munge", "cred/slurm")
        # The newer one has a limit of its own for the check, of a minute.
        lines = text.replace("HealthCheckInterval=20", "HealthCheckInterval=90").splitlines()
        kept = [line for line in lines if not line.startswith(("AuthType=", "AuthInfo="))]
        keys = f"AuthAltParameters=jwt_key={self.folder}/jwt.key"
        self.conf.write_text("\n".join([*kept, "AuthType=auth/slurm", "AuthAltTypes=auth/jwt", keys, ""]))
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")

    def _mount(self) -> None:
        """In a mount namespace that this thread and its children have from now on."""
        if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNS) != 0:
            raise OSError(ctypes.get_errno(), "A mount namespace needs root.")
        subprocess.run(["mount", "--make-rprivate", "/"], check=True, stdin=subprocess.DEVNULL)
        for path in ("/proc", "/dev", "/sys", str(self.folder)):
            target = self._root / path.lstrip("/")
            target.mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "--rbind", path, str(target)], check=True, stdin=subprocess.DEVNULL)

    def _give_keys(self) -> None:
        for name in ("slurm.key", "jwt.key"):
            path = self.folder / name
            path.write_bytes(secrets.token_bytes(64))
            path.chmod(0o600)
            shutil.chown(path, SLURM_UID, SLURM_UID)
        for name, owner in (("slurm", 0), ("slurmctld", SLURM_UID)):
            run = self._root / "run" / name
            run.mkdir(exist_ok=True)
            shutil.chown(run, owner)

    def _give_accounts(self) -> None:
        """Those that the machine has for this run."""
        for name in ("passwd", "group"):
            self._without_accounts(name)
            ours = [
                line
                for line in Path("/etc", name).read_text().splitlines()
                if line.partition(":")[0] in self.accounts
            ]
            with (self._root / "etc" / name).open("a") as file:
                file.writelines(f"{line}\n" for line in ours)

    def _without_accounts(self, name: str) -> None:
        """Also those of a run that was killed."""
        path = self._root / "etc" / name
        lines = path.read_text().splitlines()
        path.write_text("".join(f"{line}\n" for line in lines if not re.match(r"al[0-9a-f]{6}n\d:", line)))

    def _listens(self) -> bool:
        return f":{self._rest_port:04X} 00000000:0000 0A" in Path("/proc/net/tcp").read_text()
