"""The prompt and the few commands of a simulated machine. No shell is ever started, so none can be left."""

import asyncio
from collections.abc import Callable
from datetime import datetime

import asyncssh
import structlog

from core import clock
from fleet.gateway import screens
from fleet.gateway.logins import Login, with_connection

log = structlog.get_logger(__name__)

NOT_FOUND = 127
MAX_LINE = 200
MAX_LINES = 2000

_Screen = Callable[[Login, datetime], str]
_SCREENS: dict[str, _Screen] = {
    "nvidia-smi": screens.smi_table,
    "nvidia-smi -L": lambda login, _now: screens.smi_list(login),
    "nvidia-smi -q": screens.smi_query,
    "hostname": lambda login, _now: screens.hostname(login),
    "lease": screens.lease,
    "df -h": lambda login, _now: screens.disk(login),
    "help": lambda _login, _now: screens.help_text(),
}
_GOODBYES = frozenset({"exit", "logout"})
_now = with_connection(clock.now)

Process = asyncssh.SSHServerProcess[str]
Current = Callable[[], Login]
Begin = Callable[[datetime | None, datetime], None]


async def serve(process: Process, current: Current, begin: Begin) -> None:
    """One session: a command and its exit status, or the prompt until exit. Ends in an exit in any case.

    `current` gives the login as it is now: the end may move while a session is open. `begin` hears when the prompt
    opens, and with which end.
    """
    status = 1
    try:
        if process.command is not None:
            status = await _answer(process, current(), process.command)
        else:
            status = await _prompt(process, current, begin)
    except (asyncssh.Error, OSError, asyncio.IncompleteReadError) as error:
        log.info("ssh_session_broken", lease=current().lease_id, error=type(error).__name__)
    except Exception:
        log.exception("ssh_session_failed", lease=current().lease_id)
        process.stderr.write("anchorgpu: this session failed\n")
    finally:
        process.exit(status)


async def _answer(process: Process, login: Login, command: str) -> int:
    words = " ".join(command[: MAX_LINE + 1].split())
    if not words or words in _GOODBYES:
        return 0
    screen = _SCREENS.get(words) if len(command) <= MAX_LINE else None
    if screen is None:
        # What was typed is repeated in plain letters only: nothing in it can steer the terminal.
        name = "".join(c for c in words.split(" ")[0][:40] if c.isascii() and c.isprintable())
        process.stderr.write(f"anchorgpu: {name}: command not found (simulated machine, type help)\n")
        return NOT_FOUND
    process.stdout.write(screen(login, await asyncio.to_thread(_now)))
    return 0


async def _prompt(process: Process, current: Current, begin: Begin) -> int:
    """Lines until exit or end of input. With a terminal asyncssh edits the line and writes \\r\\n, without it not."""
    has_terminal = process.term_type is not None
    moment = await asyncio.to_thread(_now)
    login = current()
    prompt = screens.prompt(login) if has_terminal else ""
    begin(login.ends_at, moment)
    if has_terminal:
        process.stdout.write(screens.greeting(login, moment))
    status = 0
    for _count in range(MAX_LINES):
        process.stdout.write(prompt)
        try:
            line = await _read_line(process)
        except asyncssh.BreakReceived:
            process.stdout.write("^C\n")
            status = 130
            continue
        if not line and has_terminal:
            process.stdout.write("\n")
        if not line or line.strip() in _GOODBYES:
            return status
        line = line.rstrip("\r\n")
        if len(line) > MAX_LINE:
            # asyncssh cuts a long line into pieces; what follows the first one is no command of anybody.
            process.stderr.write("anchorgpu: line too long\n")
            return 1
        status = await _answer(process, current(), line)
        if process.is_closing():
            return status
    return status


async def _read_line(process: Process) -> str:
    """The next line, empty at the end of input; a resized window or a signal changes nothing."""
    while True:
        try:
            return await process.stdin.readline()
        except (asyncssh.TerminalSizeChanged, asyncssh.SignalReceived):
            continue
