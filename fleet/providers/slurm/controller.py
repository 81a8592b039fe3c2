"""The controller of a cluster: each question and each order that the driver has, as one command."""

import math
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from core import clock
from fleet.providers.base import ProviderRefused, ProviderUnavailable
from fleet.providers.slurm import answers
from fleet.providers.slurm.answers import Job, NodeState, Reservation, SeenCard
from fleet.providers.slurm.config import Config
from fleet.providers.slurm.tools import NotFound, Tools

# A question to every node of a lease; the nodes answer in a tenth of that.
STEP_SECONDS = 12.0
OVER = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE"})


class Controller:
    """Slurm 22.05 and later, by its own tools. Every method raises ProviderRefused or ProviderUnavailable."""

    def __init__(self, config: Config, tools: Tools) -> None:
        self.config = config
        self._tools = tools

    def reservation(self, name: str) -> Reservation | None:
        """One reservation by its name, or None."""
        try:
            text = self._tools.run("scontrol", "-o", "show", "reservation", name, user=self._operator)
        except NotFound:
            return None
        found = answers.reservations(text, wanted=lambda other: other == name)
        if len(found) != 1:
            raise ProviderUnavailable(f"Slurm was asked for {name} and answered with something else.")
        return found[0]

    def reservations(self) -> dict[str, Reservation]:
        """All that are ours, by name."""
        text = self._tools.run("scontrol", "-o", "show", "reservation", user=self._operator)
        found = answers.reservations(text, wanted=lambda name: self.config.lease_of(name) is not None)
        return {entry.name: entry for entry in found}

    def create(
        self, name: str, *, nodes: Sequence[str], user: str, starts_at: datetime | None, ends_at: datetime
    ) -> None:
        """Nodes by name: by number an old controller grants fewer than asked and says yes."""
        self._tools.run(
            *("scontrol", "create", "reservation", f"ReservationName={name}", f"Nodes={','.join(nodes)}"),
            *(f"Users={user}", f"StartTime={_text(starts_at)}", f"EndTime={_text(ends_at)}"),
            user=self._operator,
        )

    def move_end(self, name: str, ends_at: datetime) -> None:
        self._update(name, f"EndTime={_text(ends_at)}")

    def hand_over(self, name: str, user: str) -> None:
        """From now on only this user may start anything in it."""
        self._update(name, f"Users={user}")

    def delete(self, name: str) -> None:
        """Gone is gone, whoever was faster."""
        try:
            self._tools.run("scontrol", "delete", f"reservation={name}", user=self._operator)
        except NotFound:
            return

    def nodes(self, names: Sequence[str] = ()) -> dict[str, NodeState]:
        """The named nodes, or all. An unknown one is refused."""
        which = [",".join(names)] if names else []
        text = self._tools.run("scontrol", "-o", "show", "node", *which, user=self._operator)
        found = {entry.name: entry for entry in answers.nodes(text)}
        if names and set(found) != set(names):
            raise ProviderRefused(f"Slurm knows {sorted(found)} of the nodes {sorted(names)}.")
        return found

    def jobs_named(self, *names: str) -> list[Job]:
        """Every job of one of these names that is not over, whoever's it is."""
        return self._jobs(f"--name={','.join(names)}")

    def jobs_of(self, account: str) -> list[Job]:
        """Every job of this account that is not over."""
        return self._jobs(f"--user={account}")

    def job_state(self, job_id: int) -> tuple[str, str] | None:
        """State and exit code of a job, or None once the controller has forgotten it (MinJobAge)."""
        try:
            text = self._tools.run("scontrol", "-o", "show", "job", str(job_id), user=self._operator)
        except NotFound:
            return None
        return answers.field(text, "JobState"), answers.field(text, "ExitCode")

    def hold_nodes(self, name: str, *, account: str, nodes: Sequence[str], ends_at: datetime) -> int:
        """The holder: a job of the lease's account on these nodes, by which the nodes let that account in."""
        minutes = max(1, math.floor((ends_at - clock.system_now()) / timedelta(minutes=1)))
        return self._submit(
            name, reservation=name, nodes=nodes, minutes=minutes, user=account, script="exec sleep infinity"
        )

    def start_wipe(self, name: str, *, reservation: str, account: str, nodes: Sequence[str]) -> int:
        """The wipe command on every node; the job fails if it fails on one."""
        command = f"{self.config.wipe_command} {shlex.quote(account)}"
        return self._submit(
            name,
            reservation=reservation,
            nodes=nodes,
            minutes=self.config.wipe_minutes,
            user=self._operator,
            script=f"srun --ntasks={len(nodes)} --ntasks-per-node=1 --kill-on-bad-exit=0 {command}",
        )

    def move_limit(self, job_id: int, ends_at: datetime) -> None:
        """Let a running job go on until then."""
        self._tools.run(
            "scontrol", "update", f"JobId={job_id}", f"EndTime={_text(ends_at)}", user=self._operator
        )

    def cancel_all_of(self, account: str) -> None:
        self._tools.run("scancel", f"--user={account}", user=self._operator)

    def look_at_cards(self, job: Job) -> dict[str, tuple[SeenCard, ...]]:
        """What each node of a holder sees of its cards, asked there and now."""
        script = f'echo "node $SLURMD_NODENAME"; exec {self.config.cards_command}'
        count = str(len(job.nodes))
        text = self._tools.run(
            *("srun", f"--jobid={job.job_id}", "--overlap", f"--nodes={count}", f"--ntasks={count}"),
            *("--ntasks-per-node=1", "--label", "--chdir=/", "/bin/sh", "-c", script),
            user=job.user,
            seconds=STEP_SECONDS,
        )
        return answers.cards_by_node(text)

    def granted_gres(self, job_id: int) -> dict[str, tuple[str, int]]:
        """Type and number of cards by node that Slurm has given to a job."""
        text = self._tools.run("scontrol", "-o", "-d", "show", "job", str(job_id), user=self._operator)
        return answers.granted_gres(text)

    @property
    def operator(self) -> str:
        """The account that the wipe runs as and that a reservation is handed to at its end."""
        return self._operator or self._tools.own_name()

    @property
    def _operator(self) -> str:
        return self.config.operator

    def _jobs(self, which: str) -> list[Job]:
        text = self._tools.run("squeue", "-h", "-a", which, "-o", "%i|%T|%u|%v|%N", user=self._operator)
        return answers.jobs(text)

    def _update(self, name: str, change: str) -> None:
        self._tools.run("scontrol", "update", f"reservation={name}", change, user=self._operator)

    def _submit(
        self, name: str, *, reservation: str, nodes: Sequence[str], minutes: int, user: str, script: str
    ) -> int:
        text = self._tools.run(
            *("sbatch", "--parsable", f"--job-name={name}", f"--reservation={reservation}"),
            *(
                f"--partition={self.config.partition}",
                f"--nodes={len(nodes)}",
                f"--nodelist={','.join(nodes)}",
            ),
            *("--exclusive", "--mem=0", "--ntasks-per-node=1", "--no-kill", "--no-requeue", "--chdir=/"),
            *("--output=/dev/null", f"--time={minutes}", f"--gres=gpu:{self._cards_of(nodes)}"),
            *("--wrap", script),
            user=user,
        )
        number = text.strip().split(";")[0]
        if not number.isdecimal():
            raise answers.odd(text)
        return int(number)

    def _cards_of(self, nodes: Sequence[str]) -> int:
        """One number for all: a job asks for the same on each of its nodes."""
        counts = {entry.gres_count for entry in self.nodes(nodes).values()}
        if len(counts) != 1:
            raise ProviderRefused(f"The nodes {', '.join(nodes)} do not have the same number of cards.")
        return counts.pop()


def ceil_second(moment: datetime) -> datetime:
    """The engine's times are whole seconds: never earlier than ours."""
    whole = moment.replace(microsecond=0)
    return whole if whole == moment else whole + timedelta(seconds=1)


def _text(moment: datetime | None) -> str:
    return "now" if moment is None else ceil_second(moment).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
