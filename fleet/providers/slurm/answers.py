"""What scontrol and squeue print, read strictly: a field that is missing or odd is no answer at all."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from fleet.providers.base import ProviderUnavailable

log = structlog.get_logger(__name__)

# A node that is none of these answers. DRAIN is no absence: what runs there runs on.
_AWAY = frozenset(
    {
        "DOWN", "NOT_RESPONDING", "FAIL", "FAILING", "INVAL", "INVALID_REG", "UNKNOWN", "FUTURE", "POWERED_DOWN",
        "POWERING_DOWN", "POWER_DOWN", "POWERING_UP", "REBOOT_ISSUED",
    }
)  # fmt: skip
_DRAINED = frozenset({"DRAIN", "DRAINED", "DRAINING", "MAINT"})
_NODE_GROUP = re.compile(r"([^\[\],]+)(?:\[([0-9,-]+)\])?(?:,|$)")
_GRES = re.compile(r"(?:^|,)gpu:(?:([A-Za-z0-9_.-]+):)?(\d+)(?=[(,]|$)")
_CARD = re.compile(r"(\d{1,3})/([^/;\s]+)/([^/;\s]+)/(ok|ill)")


@dataclass(frozen=True)
class Reservation:
    name: str
    nodes: tuple[str, ...]
    users: tuple[str, ...]
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True)
class SeenCard:
    """One card as its node sees it."""

    index: int
    serial: str
    name: str
    healthy: bool


@dataclass(frozen=True)
class NodeState:
    """`cards` is what the node's own check has noted, or None where it notes nothing."""

    name: str
    states: frozenset[str]
    gres_type: str
    gres_count: int
    cards: tuple[SeenCard, ...] | None
    reason: str
    arch: str = ""
    partitions: tuple[str, ...] = ()

    @property
    def is_drained(self) -> bool:
        """Nothing new starts on it; what runs there runs on."""
        return bool(self.states & _DRAINED)

    @property
    def is_away(self) -> bool:
        return bool(self.states & _AWAY)


@dataclass(frozen=True)
class Job:
    """Without its name, which its owner chooses: whose it is and where it runs cannot be made up."""

    job_id: int
    state: str
    user: str
    reservation: str
    nodes: tuple[str, ...]


def reservations(text: str, *, wanted: Callable[[str], bool]) -> list[Reservation]:
    """The answer to `scontrol -o show reservation`. Those of others are not read: they say what their makers like."""
    if text.strip() == "No reservations in the system":
        return []
    return [_reservation(line) for line in _lines(text) if wanted(field(line, "ReservationName"))]


def nodes(text: str) -> list[NodeState]:
    """The answer to `scontrol -o show node`."""
    return [_node(line) for line in _lines(text)]


def jobs(text: str) -> list[Job]:
    """The answer to `squeue -h -a -o '%i|%T|%u|%v|%N'`; parts of one job (12_3, 12+0) have its number."""
    found = []
    for line in _lines(text):
        parts = line.split("|")
        number = re.match(r"\d+", parts[0])
        if len(parts) != 5 or number is None:
            raise odd(line)
        _number, state, user, reservation, where = parts
        found.append(Job(int(number[0]), state, user, _word(reservation), tuple(expand(_word(where)))))
    return found


def expand(hosts: str) -> list[str]:
    """Names of a host list such as gpu[01-03,7],login1, in order."""
    names: list[str] = []
    position = 0
    while position < len(hosts):
        match = _NODE_GROUP.match(hosts, position)
        if match is None:
            raise odd(hosts)
        stem, ranges = match.groups()
        names.extend([stem] if ranges is None else [f"{stem}{number}" for number in _numbers(ranges)])
        position = match.end()
    return sorted(names)


def granted_gres(text: str) -> dict[str, tuple[str, int]]:
    """Type and number of cards by node that a job has, from `scontrol -o -d show job`."""
    found: dict[str, tuple[str, int]] = {}
    for where, gres in re.findall(r"\bNodes=(\S+) CPU_IDs=\S+ Mem=\d+ GRES=(\S*)", text):
        for name in expand(where):
            found[name] = gres_of(gres)
    return found


def field(line: str, name: str) -> str:
    """The value of one field of a one-line answer."""
    match = re.search(rf"(?:^|\s){re.escape(name)}=(\S*)", line)
    if match is None:
        raise odd(line)
    return match[1]


def _optional(line: str, name: str) -> str:
    """The same for a field that a node has only once it has registered."""
    return _word(field(line, name)) if re.search(rf"(?:^|\s){name}=", line) else ""


def odd(text: str) -> ProviderUnavailable:
    return ProviderUnavailable(f"Slurm's answer cannot be read: {text[:200]}")


def _reservation(line: str) -> Reservation:
    found = Reservation(
        name=field(line, "ReservationName"),
        nodes=tuple(expand(_word(field(line, "Nodes")))),
        users=tuple(user for user in _word(field(line, "Users")).split(",") if user),
        starts_at=_time(field(line, "StartTime")),
        ends_at=_time(field(line, "EndTime")),
    )
    if field(line, "NodeCnt") != str(len(found.nodes)):
        raise odd(line)
    return found


def _node(line: str) -> NodeState:
    gres_type, gres_count = gres_of(_word(field(line, "Gres")))
    words = (word.strip("*~#!%$@^-") for word in field(line, "State").split("+"))
    starred = "*" in field(line, "State")
    reason = re.search(r"\sReason=(.*?)(?=\s[A-Za-z]+=|$)", line)
    return NodeState(
        name=field(line, "NodeName"),
        states=frozenset(words) | ({"NOT_RESPONDING"} if starred else set()),
        gres_type=gres_type,
        gres_count=gres_count,
        cards=noted_cards(field(line, "NodeName"), _optional(line, "Extra")),
        reason=reason[1].strip() if reason else "",
        arch=_optional(line, "Arch"),
        partitions=tuple(word for word in _optional(line, "Partitions").split(",") if word),
    )


def gres_of(text: str) -> tuple[str, int]:
    """Type and number of the cards of a GRES text such as gpu:h200:8(S:0-1); no cards where it has none."""
    match = _GRES.search(text)
    return (match[1] or "", int(match[2])) if match else ("", 0)


def noted_cards(node: str, extra: str) -> tuple[SeenCard, ...] | None:
    """What the check of the node has left in its field Extra: cards=0/serial/name/ok;1/... ."""
    mark, separator, text = extra.partition("=")
    if mark != "cards" or not separator:
        return None
    cards = [_CARD.fullmatch(part) for part in text.split(";") if part]
    if None in cards:
        # One node's broken note must not make the whole cluster silent; its state still counts.
        log.warning("slurm_node_note_unreadable", node=node, note=text[:200])
        return None
    return tuple(SeenCard(int(card[1]), card[2], card[3], card[4] == "ok") for card in cards if card)


def _numbers(ranges: str) -> Iterator[str]:
    for part in ranges.split(","):
        first, _dash, last = part.partition("-")
        last = last or first
        if not first.isdecimal() or not last.isdecimal():
            raise odd(ranges)
        for number in range(int(first), int(last) + 1):
            yield f"{number:0{len(first)}d}"


def _time(text: str) -> datetime:
    """The tools run in UTC."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        raise odd(text) from None


def _word(text: str) -> str:
    return "" if text in {"(null)", "N/A", "n/a"} else text


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def cards_by_node(text: str) -> dict[str, tuple[SeenCard, ...]]:
    """The answer of the nodes to the driver's step: `N: node NAME`, then `N: index, serial, uuid, name, errors`."""
    by_task: dict[str, list[str]] = {}
    for line in _lines(text):
        task, separator, rest = line.partition(": ")
        if not separator:
            raise odd(line)
        by_task.setdefault(task.strip(), []).append(rest.strip())
    found: dict[str, tuple[SeenCard, ...]] = {}
    for head, *cards in by_task.values():
        word, _blank, name = head.partition(" ")
        if word != "node" or not name:
            raise odd(head)
        found[name] = tuple(card_line(line) for line in cards)
    return found


def card_line(line: str) -> SeenCard:
    """`index, serial, uuid, name, uncorrected errors`; a card without a serial number goes by its uuid."""
    parts = [part.strip() for part in line.split(",")]
    if len(parts) != 5 or not parts[0].isdecimal():
        raise odd(line)
    index, serial, uuid, name, errors = parts
    has_serial = serial not in {"", "0", "[N/A]", "N/A"}
    return SeenCard(int(index), serial if has_serial else uuid, name, errors in {"0", "[N/A]", "N/A"})
