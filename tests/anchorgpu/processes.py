"""Processes as the kernel lists them, so that a test can say what is left."""

import time
from collections.abc import Callable
from pathlib import Path


def _stat(pid: int) -> tuple[str, int] | None:
    """State and parent; None where there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)


def is_alive(pid: int) -> bool:
    """A zombie is dead: whoever inherited it has not collected it yet."""
    stat = _stat(pid)
    return stat is not None and stat[0] not in "ZX"


def descendants(pid: int) -> set[int]:
    """All processes below this one."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            stat = _stat(int(folder.name))
            if stat is not None:
                parents[int(folder.name)] = stat[1]
    found: set[int] = set()
    generation = {pid}
    while generation:
        generation = {child for child, parent in parents.items() if parent in generation} - found
        found |= generation
    return found


def wait_for(condition: Callable[[], bool], *, seconds: float, what: str) -> None:
    """Polls; fails with what was waited for."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.02)
