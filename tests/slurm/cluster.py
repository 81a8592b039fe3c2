"""A whole Slurm cluster on this machine: munge, a controller, four nodes of eight fake cards, a login host.

Everything lies in one temporary folder with ports of its own; a system Slurm, munge or sshd is never touched.
Needs root: a node starts jobs as other accounts. What it starts ends with it (tests/slurm/guard.py).
"""

import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import asyncssh

from anchorgpu.services.ports import Reservation, reserve_free
from anchorgpu.services.process import Process
from tests.slurm import scripts
from tests.slurm.guard import MARK
from tests.slurm.scripts import NODES

ROOT = Path(__file__).resolve().parent.parent.parent
NODE_PROGRAMS = ROOT / "fleet" / "providers" / "slurm" / "node"
ACCOUNTS = 8
WAIT_SECONDS = 30.0


class Cluster:
    """`start` and `stop` once each; the switches between them."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="anchorgpu-slurm-"))
        self.conf = self.folder / "slurm.conf"
        tag = secrets.token_hex(3)
        self.accounts = tuple(f"al{tag}n{number}" for number in range(1, ACCOUNTS + 1))
        self._guard: subprocess.Popen[bytes] | None = None
        self._ports: list[Reservation] = []
        self.ssh_port = 0
        self.controller: Process
        self.nodes: dict[str, Process] = {}
        self._others: list[Process] = []
        # What stands before each of Slurm's programs: nothing, where this machine's own are used.
        self.inside: tuple[str, ...] = ()

    # Life

    def start(self) -> None:
        """About two seconds. Raises where a program is missing: there is no cluster without it."""
        self._start_guard()
        self._lay_out()
        controller, *nodes, ssh = [self._port() for _ in range(len(NODES) + 2)]
        self.ssh_port = ssh
        node_ports = dict(zip(NODES, nodes, strict=True))
        self.conf.write_text(
            scripts.slurm_conf(self.folder, controller_port=controller, node_ports=node_ports)
        )
        (self.folder / "sshd_config").write_text(
            scripts.sshd_config(self.folder, port=ssh, accounts=self.accounts)
        )
        self._prepare()
        munge = self._daemon("munged", *self._as("munge"), *self._munge_command())
        self.controller = self._daemon(
            "slurmctld", *self.inside, *self._as("slurm"), "slurmctld", "-D", "-f", str(self.conf)
        )
        sshd = self._daemon("sshd", "/usr/sbin/sshd", "-D", "-e", "-f", str(self.folder / "sshd_config"))
        self.nodes = {
            name: self._daemon(
                f"slurmd-{name}", *self.inside, "slurmd", "-D", "-N", name, "-f", str(self.conf)
            )
            for name in NODES
        }
        self._others = [sshd, munge]
        for port in self._ports:
            port.release()
        munge.start()
        munge.wait_until((self.folder / "munge" / "socket").exists, seconds=WAIT_SECONDS)
        for process in (self.controller, sshd, *self.nodes.values()):
            process.start()
        self.controller.wait_until(self._is_idle, seconds=WAIT_SECONDS)
        for name in NODES:
            self.note_cards(name)

    def stop(self) -> None:
        """Jobs first, then the daemons; the guard sees to the rest. May be repeated."""
        if self._guard is None:
            return
        for process in (*self.nodes.values(), getattr(self, "controller", None), *self._others):
            if process is not None:
                process.stop(seconds=3)
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        self._guard.wait(timeout=WAIT_SECONDS)
        self._guard = None
        for port in self._ports:
            port.close()

    def settings(self) -> dict[str, str]:
        """The shop's settings for this cluster, as its environment says them."""
        return {
            "PROVIDER": "slurm",
            "SLURM_CONF": str(self.conf),
            "SLURM_ACCOUNTS": ",".join(self.accounts),
            "SLURM_MODELS": f"{scripts.GRES_TYPE}={scripts.SLUG},{scripts.CARD_NAME}={scripts.SLUG}",
            "SLURM_PARTITION": "lots",
            "SLURM_KEYS_DIR": str(self.folder / "keys"),
            "SLURM_LOGIN": f"127.0.0.1:{self.ssh_port}",
            "SLURM_LOGIN_HOST_KEY_FILE": str(self.folder / "ssh_host_key.pub"),
            "SLURM_CARDS_COMMAND": f"{self.folder}/bin/nvidia-smi --query-gpu=index",
            "SLURM_WIPE_COMMAND": f"{self.folder}/bin/wipe",
        }

    def reset(self) -> None:
        """As after the start: no job, no reservation, no key, every node well."""
        jobs = self.run("squeue", "-h", "-a", "-o", "%i").split()
        if jobs:
            self.run("scancel", *jobs)
            self.wait(lambda: not self.run("squeue", "-h", "-a").strip(), "the jobs to end")
        for name in self.reservations():
            self.run("scontrol", "delete", f"reservation={name}")
        for path in (self.folder / "keys").iterdir():
            path.unlink()
        for name in ("wipe-fails", "wipe-seconds", "wiped", "run/events"):
            (self.folder / name).unlink(missing_ok=True)
        unwell = self.run("sinfo", "-h", "-N", "-t", "down,drain,no_respond", "-o", "%N").split()
        for name in NODES:
            is_sound = (self.folder / "cards" / name).read_text().splitlines() == scripts.card_lines(name)
            if name in unwell or not is_sound or not self.nodes[name].is_running:
                self.up(name)

    # Switches

    def down(self, name: str) -> None:
        """The node is declared away, at once; its processes stay."""
        self.run("scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=test")

    def up(self, name: str) -> None:
        """The node is there, with all its cards."""
        if not self.nodes[name].is_running:
            self.nodes[name].start()
        if "DOWN" in self.node_state(name) or "DRAIN" in self.node_state(name):
            self.run("scontrol", "update", f"NodeName={name}", "State=RESUME")
        self.wait(
            lambda: not {"DOWN", "NOT_RESPONDING", "DRAIN"} & set(self.node_state(name)), f"{name} to answer"
        )
        self.write_cards(name, scripts.card_lines(name))

    def controller_stop(self) -> None:
        self.controller.stop(seconds=5)

    def controller_start(self) -> None:
        """With the state that it had."""
        self.controller.start()
        self.controller.wait_until(self._is_idle, seconds=WAIT_SECONDS)

    def foreign_reservation(self, *names: str, minutes: int = 60, starts: str = "now") -> str:
        """One of somebody else's over these nodes; its name."""
        name = f"foreign{secrets.token_hex(3)}"
        self.run(
            *("scontrol", "create", "reservation", f"ReservationName={name}", f"Nodes={','.join(names)}"),
            *(f"StartTime={starts}", f"Duration={minutes}", "Users=root"),
            check=True,
        )
        return name

    def write_cards(self, name: str, lines: list[str]) -> None:
        """What the node's driver shows from now on; its check has run once since."""
        (self.folder / "cards" / name).write_text("".join(f"{line}\n" for line in lines))
        self.note_cards(name)

    def note_cards(self, name: str) -> None:
        """The check of the node, as its daemon runs it every 20 s."""
        subprocess.run(
            [*self.inside, str(self.folder / "bin" / "health")],
            env=self._env() | {"SLURMD_NODENAME": name},
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WAIT_SECONDS,
        )

    # Looks

    def run(self, *command: str, check: bool = False) -> str:
        """One of Slurm's tools, as root; what it printed."""
        done = subprocess.run(
            [*self.inside, *command],
            env=self._env(),
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WAIT_SECONDS,
            text=True,
        )
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout

    def reservations(self) -> list[str]:
        lines = self.run("scontrol", "-o", "show", "reservation").splitlines()
        return [
            line.split()[0].removeprefix("ReservationName=") for line in lines if "ReservationName=" in line
        ]

    def events(self) -> list[str]:
        """What the hooks of Slurm were told since the last reset, such as `began anchor_7`."""
        path = self.folder / "run" / "events"
        return path.read_text().splitlines() if path.exists() else []

    def node_state(self, name: str) -> list[str]:
        text = self.run("scontrol", "-o", "show", "node", name)
        state = next(word for word in text.split() if word.startswith("State="))
        return state.removeprefix("State=").replace("*", "+NOT_RESPONDING").split("+")

    def wait(self, until: Callable[[], bool], what: str, *, seconds: float = WAIT_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < deadline, f"waited {seconds:.0f} s for {what}"
            time.sleep(0.1)

    # Parts of the start

    def _prepare(self) -> None:
        """All files are written, and nothing runs yet."""

    def _start_guard(self) -> None:
        self._guard = subprocess.Popen(
            [sys.executable, "-m", "tests.slurm.guard", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            start_new_session=True,
        )

    def _lay_out(self) -> None:
        self.folder.chmod(0o755)
        for name in ("munge", "state", "log", "run", "dev", "cards", "keys", "bin", "login", "home"):
            (self.folder / name).mkdir()
        for name in NODES:
            (self.folder / "spool" / name).mkdir(parents=True)
            (self.folder / "cards" / name).write_text(
                "".join(f"{line}\n" for line in scripts.card_lines(name))
            )
            for index in range(scripts.CARDS):
                os.mknod(self.folder / "dev" / f"{name}-card{index}", 0o666 | 0o020000, os.makedev(1, 3))
        self._make_keys()
        for path, text in scripts.programs(self.folder).items():
            (self.folder / path).write_text(text)
            (self.folder / path).chmod(0o755)
        shutil.copy(NODE_PROGRAMS / "anchor-cards", self.folder / "bin" / "anchor-cards")
        shutil.copy(NODE_PROGRAMS / "nvidia-smi", self.folder / "bin" / "login-nvidia-smi")
        (self.folder / "gres.conf").write_text(scripts.gres_conf(self.folder))
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        for name, owner in (("munge", "munge"), ("state", "slurm"), ("log", "slurm"), ("run", "slurm")):
            shutil.chown(self.folder / name, owner, owner)
        (self.folder / "munge").chmod(0o711)
        self._make_accounts()
        # sshd wants it, and a machine without a running sshd may not have it.
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)

    def _make_keys(self) -> None:
        munge_key = self.folder / "munge" / "key"
        munge_key.write_bytes(secrets.token_bytes(64))
        munge_key.chmod(0o400)
        shutil.chown(munge_key, "munge", "munge")
        host_key = asyncssh.generate_private_key("ssh-ed25519")
        host_key.write_private_key(str(self.folder / "ssh_host_key"))
        (self.folder / "ssh_host_key").chmod(0o600)
        host_key.write_public_key(str(self.folder / "ssh_host_key.pub"))

    def _make_accounts(self) -> None:
        for name in self.accounts:
            home = self.folder / "home" / name
            subprocess.run(
                [
                    "useradd",
                    "-M",
                    "-d",
                    str(home),
                    "-s",
                    "/bin/bash",
                    "-p",
                    "*",
                    "-c",
                    "AnchorGPU test",
                    name,
                ],
                check=True,
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )
            with (self.folder / "uids").open("a") as uids:
                uids.write(f"{pwd.getpwnam(name).pw_uid}\n")
            home.mkdir(mode=0o700)
            shutil.chown(home, name)

    def _port(self) -> int:
        self._ports.append(reserve_free())
        return self._ports[-1].port

    def _daemon(self, name: str, *command: str) -> Process:
        return Process(
            name=name, command=command, log_file=self.folder / "log" / f"{name}.out", env=self._env()
        )

    def _as(self, user: str) -> list[str]:
        """As this user from the start, and tied to us: a daemon that changes its user itself loses that tie."""
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--pdeathsig", "KILL"]

    def _munge_command(self) -> list[str]:
        folder = self.folder / "munge"
        names = {
            "socket": "socket",
            "key-file": "key",
            "pid-file": "pid",
            "log-file": "log",
            "seed-file": "seed",
        }
        return ["munged", "-F", *(f"--{option}={folder / name}" for option, name in names.items())]

    def _env(self) -> dict[str, str]:
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "SLURM_CONF": str(self.conf),
            MARK: str(self.folder),
        }

    def _is_idle(self) -> bool:
        words = self.run("sinfo", "-h", "-N", "-o", "%T").split()
        return len(words) == len(NODES) and not {"unknown", "down"} & {word.rstrip("*") for word in words}
