"""The controller by REST, for Slurm 25.05 and later: the same questions and orders as by its tools.

Steps on the nodes go by `srun` all the same: slurmrestd starts jobs, and nobody hears what they print.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import quote

from core import clock
from fleet.providers.base import ProviderRefused
from fleet.providers.slurm import answers
from fleet.providers.slurm.answers import Job, NodeState, Reservation
from fleet.providers.slurm.config import Config
from fleet.providers.slurm.controller import OVER, Controller, ceil_second
from fleet.providers.slurm.rest_client import RestClient
from fleet.providers.slurm.tools import NotFound, Tools

T = TypeVar("T")
# What a job's script finds: slurmrestd hands nothing of a login on.
_ENVIRONMENT = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]


class RestController(Controller):
    """Reads are lists: asked for one reservation where there is none at all, Slurm 26.05 answers with an error."""

    def __init__(self, config: Config, tools: Tools) -> None:
        super().__init__(config, tools)
        self._rest = RestClient(
            url=config.rest_url, api=config.rest_api, user=self.operator, token_file=config.rest_token_file
        )

    def reservation(self, name: str) -> Reservation | None:
        return self._reservations(lambda known: known == name).get(name)

    def reservations(self) -> dict[str, Reservation]:
        return self._reservations(lambda name: self.config.lease_of(name) is not None)

    def create(
        self, name: str, *, nodes: Sequence[str], user: str, starts_at: datetime | None, ends_at: datetime
    ) -> None:
        """The call would change a reservation of this name that has not begun."""
        if self.reservation(name) is not None:
            raise ProviderRefused("Duplicate reservation name")
        body = {
            "name": name,
            "node_list": list(nodes),
            "users": [user],
            "start_time": _number(
                math.floor(clock.system_now().timestamp()) if starts_at is None else _epoch(starts_at)
            ),
            "end_time": _number(_epoch(ends_at)),
        }
        self._rest.call("POST", "/reservation", body)

    def delete(self, name: str) -> None:
        try:
            self._rest.call("DELETE", f"/reservation/{quote(name, safe='')}")
        except NotFound:
            return

    def move_end(self, name: str, ends_at: datetime) -> None:
        self._change(name, end_time=_number(_epoch(ends_at)))

    def hand_over(self, name: str, user: str) -> None:
        self._change(name, users=[user])

    def nodes(self, names: Sequence[str] = ()) -> dict[str, NodeState]:
        found = {entry.name: entry for entry in _each(self._rest.call("GET", "/nodes/"), "nodes", _node)}
        missing = sorted(set(names) - found.keys())
        if missing:
            raise NotFound(f"Node {', '.join(missing)} not found.")
        return {name: found[name] for name in names} if names else found

    def jobs_named(self, *names: str) -> list[Job]:
        return self._jobs_where(lambda entry: entry["name"] in names)

    def jobs_of(self, account: str) -> list[Job]:
        return self._jobs_where(lambda entry: entry["user_name"] == account)

    def job_state(self, job_id: int) -> tuple[str, str] | None:
        try:
            found = _each(self._rest.call("GET", f"/job/{job_id}"), "jobs", _ending)
        except NotFound:
            return None
        return found[0] if found else None

    def move_limit(self, job_id: int, ends_at: datetime) -> None:
        self._rest.call("POST", f"/job/{job_id}", {"end_time": _epoch(ends_at)})

    def cancel_all_of(self, account: str) -> None:
        self._rest.call("DELETE", "/jobs/", {"user_name": account})

    def granted_gres(self, job_id: int) -> dict[str, tuple[str, int]]:
        found = _each(self._rest.call("GET", f"/job/{job_id}"), "jobs", _grants)
        return found[0] if found else {}

    def _reservations(self, wanted: Callable[[str], bool]) -> dict[str, Reservation]:
        answer = self._rest.call("GET", "/reservations/")
        found = _each(answer, "reservations", _reservation, where=lambda entry: wanted(entry["name"]))
        return {entry.name: entry for entry in found}

    def _jobs_where(self, where: Callable[[dict[str, Any]], bool]) -> list[Job]:
        """The answer also has those that were over some minutes ago."""
        found = _each(self._rest.call("GET", "/jobs/"), "jobs", _job, where=where)
        return [job for job in found if job.state not in OVER]

    def _change(self, name: str, **values: object) -> None:
        """The call would make a reservation that is not there."""
        if self.reservation(name) is None:
            raise NotFound(f"Reservation {name} not found")
        self._rest.call("POST", "/reservation", {"name": name, **values})

    def _submit(
        self, name: str, *, reservation: str, nodes: Sequence[str], minutes: int, user: str, script: str
    ) -> int:
        job = {
            "name": name,
            "reservation": reservation,
            "partition": self.config.partition,
            "user_id": user or self.operator,
            "nodes": str(len(nodes)),
            "required_nodes": list(nodes),
            "shared": ["none"],
            "memory_per_node": _number(0),
            "tasks_per_node": 1,
            "tres_per_node": f"gres/gpu:{self._cards_of(nodes)}",
            "time_limit": _number(minutes),
            "kill_on_node_fail": False,
            "requeue": False,
            "current_working_directory": "/",
            "standard_output": "/dev/null",
            "environment": _ENVIRONMENT,
            "script": f"#!/bin/sh\n{script}\n",
        }
        answer = self._rest.call("POST", "/job/submit", {"job": job})
        number = answer.get("job_id")
        if not isinstance(number, int) or number <= 0:
            raise answers.odd(str(answer))
        return number


def _each(
    answer: Mapping[str, Any],
    name: str,
    read: Callable[[dict[str, Any]], T],
    *,
    where: Callable[[dict[str, Any]], bool] = lambda _entry: True,
) -> list[T]:
    """The entries of a list of the answer. What lacks a field, or has one of another kind, is no answer at all; those
    of others are not read."""
    try:
        return [read(entry) for entry in answer[name] if where(entry)]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise answers.odd(f"{name}: {type(error).__name__} {error}") from error


def _reservation(entry: dict[str, Any]) -> Reservation:
    nodes = tuple(answers.expand(entry["node_list"]))
    if entry["node_count"] != len(nodes):
        raise ValueError(f"{entry['name']} has another number of nodes than it names.")
    return Reservation(
        name=_text(entry["name"]),
        nodes=nodes,
        users=tuple(user for user in entry["users"].split(",") if user),
        starts_at=_moment(entry["start_time"]),
        ends_at=_moment(entry["end_time"]),
    )


def _node(entry: dict[str, Any]) -> NodeState:
    gres_type, gres_count = answers.gres_of(_text(entry["gres"]))
    return NodeState(
        name=_text(entry["name"]),
        states=frozenset(_texts(entry["state"])),
        gres_type=gres_type,
        gres_count=gres_count,
        cards=answers.noted_cards(_text(entry["name"]), _text(entry["extra"])),
        reason=_text(entry["reason"]),
        arch=_text(entry["architecture"]),
        partitions=tuple(_texts(entry["partitions"])),
    )


def _job(entry: dict[str, Any]) -> Job:
    return Job(
        job_id=int(entry["job_id"]),
        state=_state(entry),
        user=_text(entry["user_name"]),
        reservation=_text(entry["resv_name"]),
        nodes=tuple(answers.expand(_text(entry["nodes"]))),
    )


def _state(entry: dict[str, Any]) -> str:
    """A job that is over and whose nodes are not free yet says both."""
    states = _texts(entry["job_state"])
    return "COMPLETING" if "COMPLETING" in states else states[0]


def _ending(entry: dict[str, Any]) -> tuple[str, str]:
    code = entry["exit_code"]
    return _state(entry), f"{int(code['return_code']['number'])}:{int(code['signal']['id']['number'])}"


def _grants(entry: dict[str, Any]) -> dict[str, tuple[str, int]]:
    """One entry for each node, in the order of the nodes."""
    names, grants = answers.expand(_text(entry["nodes"])), _texts(entry["gres_detail"])
    return {name: answers.gres_of(text) for name, text in zip(names, grants, strict=True)} if grants else {}


def _number(value: int) -> dict[str, object]:
    return {"set": True, "infinite": False, "number": value}


def _epoch(moment: datetime) -> int:
    return int(ceil_second(moment).timestamp())


def _moment(value: Mapping[str, Any]) -> datetime:
    if value["set"] is not True or value["infinite"] is not False:
        raise ValueError("A time is missing.")
    return datetime.fromtimestamp(int(value["number"]), UTC)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _texts(values: Iterable[object]) -> list[str]:
    return [_text(value) for value in values]
