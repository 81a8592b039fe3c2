"""What the commands of a simulated machine print. Pure text; every screen says that it is simulated."""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import groupby

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.formats import NO_BREAK, duration_text
from fleet.gateway.logins import CardView, Login

_UUID_SPACE = uuid.UUID("6f0c2f1e-41c5-4d0e-9a44-6c6f7d6e5b01")
_GB = 10**9
_MIB_PER_GB = _GB / 2**20
_BLOCK_UNITS = ("", "K", "M", "G", "T", "P")
_RULE = "+-----------------------------------------------------------------------------------------+"
_HALVES = "|-----------------------------------------+------------------------+----------------------+"
_DOUBLE = "|=========================================+========================+======================|"
_CLOSING = "+-----------------------------------------+------------------------+----------------------+"


def mark() -> str:
    """The line that stands above every output."""
    return "# " + _("Simulated by AnchorGPU. No real accelerator answers here.") + "\n"


def greeting(login: Login, moment: datetime) -> str:
    """What is left stands here always: a session may open inside the last minutes."""
    lines = [
        mark().rstrip(),
        _("You are on lease %(user)s. Type help for the commands.") % {"user": login.username},
    ]
    if login.ends_at is not None:
        lines.append(
            _("The lease ends on %(end)s, in %(left)s. Save what you need before.")
            % {"end": utc(login.ends_at), "left": remaining(login.ends_at - moment)}
        )
    return "\n".join(lines) + "\n"


def help_text() -> str:
    return (
        mark()
        + _("These commands are answered:")
        + "\n"
        + "  nvidia-smi | nvidia-smi -L | nvidia-smi -q | hostname | lease | df -h | help | exit\n"
    )


def utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def remaining(delta: timedelta) -> str:
    """As pages say it, to the minute, with the plain spaces of a terminal."""
    return duration_text(int(delta.total_seconds() // 60) * 60).replace(NO_BREAK, " ")


def lease(login: Login, now: datetime) -> str:
    rows = [
        (pgettext("about a lease", "lease"), login.username),
        (pgettext("about a lease", "environment"), login.image),
        (pgettext("about a lease", "cards"), str(len(login.cards))),
    ]
    rows += [
        (pgettext("about a lease", "card"), f"{c.node}/{c.index}  {c.model}  {c.serial}") for c in login.cards
    ]
    if login.ends_at is not None:
        rows += [
            (pgettext("about a lease", "ends"), utc(login.ends_at)),
            (pgettext("about a lease", "left"), remaining(login.ends_at - now)),
        ]
    if login.cards and login.cards[0].memory_gb is not None:
        # The same memory stands in GB on the order and in MiB in nvidia-smi; here both meet.
        memory = {"gb": login.cards[0].memory_gb, "mib": _memory(login.cards[0])}
        rows.append(
            (
                pgettext("about a lease", "memory"),
                _("%(gb)s GB a card of 10^9 bytes each, as sold; %(mib)s in nvidia-smi") % memory,
            )
        )
    width = max(len(name) for name, _value in rows) + 2
    return mark() + "".join(f"{name:<{width}}{value}\n" for name, value in rows)


def prompt(login: Login) -> str:
    """Names the machine as `hostname` does; a lease over several nodes stands on the first."""
    return f"{login.username}@{_hosts(login)[0]}:~$ "


def hostname(login: Login) -> str:
    return mark() + "".join(f"{name}\n" for name in _hosts(login))


def _hosts(login: Login) -> list[str]:
    return sorted({card.node for card in login.cards}) or ["anchorgpu"]


def disk(login: Login) -> str:
    size = "-" if login.nvme_gb is None else _blocks(login.nvme_gb * _GB)
    rows = [
        ("Filesystem", "Size", "Used", "Avail", "Use%", "Mounted on"),
        ("/dev/nvme0n1", size, "0", size, "0%", "/scratch"),
    ]
    return mark() + "".join(
        f"{name:<14} {total:>5} {used:>5} {free:>5} {share:>4} {place}\n"
        for name, total, used, free, share, place in rows
    )


def _blocks(size: int) -> str:
    """Bytes as `df -h` prints them: powers of 1024, always rounded up, one decimal place below ten."""
    power = 0
    while -(-size // 1024**power) >= 1024 and power < len(_BLOCK_UNITS) - 1:
        power += 1
    tenths = -(-size * 10 // 1024**power)
    shown = f"{tenths // 10}.{tenths % 10}" if power and tenths < 100 else str(-(-tenths // 10))
    return shown + _BLOCK_UNITS[power]


def smi_list(login: Login) -> str:
    """`nvidia-smi -L`: the acceptance test counts the lines that begin with GPU."""
    lines = (f"GPU {n}: {card.model} (UUID: {card_uuid(card)})\n" for n, card in enumerate(login.cards))
    return mark() + "".join(lines)


def smi_query(login: Login, now: datetime) -> str:
    head = [
        "==============NVSMI LOG==============",
        "",
        f"{'Timestamp':<42}: {now:%a %b %e %H:%M:%S %Y}",
        f"{'Driver Version':<42}: {login.driver or 'N/A'}",
        f"{login.stack + ' Version':<42}: {login.stack_version or 'N/A'}",
        f"{'Attached GPUs':<42}: {len(login.cards)}",
    ]
    for number, card in enumerate(login.cards):
        head += [
            "",
            f"GPU {number:08X}:00:00.0",
            f"    {'Product Name':<38}: {card.model}",
            f"    {'Serial Number':<38}: {card.serial}",
            f"    {'GPU UUID':<38}: {card_uuid(card)}",
            "    FB Memory Usage",
            f"        {'Total':<34}: {_memory(card)}",
            f"        {'Used':<34}: 0 MiB",
            "    GPU Power Readings",
            f"        {'Current Power Limit':<34}: {_watts(card)}",
        ]
    return mark() + "\n".join(head) + "\n"


def smi_table(login: Login, now: datetime) -> str:
    """`nvidia-smi`: one table a node, since a lease may span several."""
    tables = [
        _table(login, node, list(cards), now)
        for node, cards in groupby(enumerate(login.cards), key=lambda item: item[1].node)
    ]
    return mark() + "\n".join(tables)


def _table(login: Login, node: str, cards: Iterable[tuple[int, CardView]], now: datetime) -> str:
    stack = f"{login.stack} Version: {login.stack_version or 'N/A'}"
    top = f"NVIDIA-SMI simulated          Driver Version: {login.driver or 'N/A':<14} {stack}"
    lines = [
        f"{now:%a %b %e %H:%M:%S %Y} UTC   {node}",
        _RULE,
        f"| {top:<87.87} |",
        _HALVES,
        _row("GPU  Name                 Persistence-M", "Bus-Id          Disp.A", "Volatile Uncorr. ECC"),
        _row("Fan  Temp   Perf          Pwr:Usage/Cap", f"{'Memory-Usage':>22}", "GPU-Util  Compute M."),
        _DOUBLE,
    ]
    for number, card in cards:
        name = f"{number:>3}  {card.model:<25.25} {'On':>7}"
        usage = f"N/A  N/A    N/A           {'0W / ' + _watts(card).replace(' ', ''):>13}"
        memory = f"0MiB / {_memory(card).replace(' ', '')}"
        lines += [
            _row(name, f"{number:08X}:00:00.0 Off", "N/A"),
            _row(usage, f"{memory:>22}", "0%      Default"),
            _CLOSING,
        ]
    nothing = _("No running processes found")
    lines += [_RULE, f"| {'Processes:':<87} |", f"| {nothing:<87.87} |", _RULE]
    return "\n".join(lines) + "\n"


def _row(card: str, bus: str, usage: str) -> str:
    return f"| {card:<39.39} | {bus:<22.22} | {usage:>20.20} |"


def card_uuid(card: CardView) -> str:
    """Stable for a card, so that two logins show the same machine."""
    return f"GPU-{uuid.uuid5(_UUID_SPACE, card.serial)}"


def _memory(card: CardView) -> str:
    """Vendors count GB of 10^9 bytes, the tool MiB; the part that a driver keeps back is not known here."""
    return "N/A" if card.memory_gb is None else f"{int(card.memory_gb * _MIB_PER_GB)} MiB"


def _watts(card: CardView) -> str:
    return "N/A" if card.power_w is None else f"{card.power_w} W"
