"""Ends what a test cluster leaves behind, however its owner ends: `python -m tests.slurm.guard FOLDER`.

Waits until its standard input closes, which also a killed owner does; then kills every process of the cluster,
removes its accounts and its folder. Slurm's own step daemons outlive the daemon that made them.
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

MARK = "ANCHOR_TEST_CLUSTER"


def processes(folder: Path) -> list[int]:
    """Those that carry the cluster's mark, name its folder or run as one of its accounts."""
    uids = (
        {int(line) for line in (folder / "uids").read_text().split()} if (folder / "uids").exists() else set()
    )
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            marked = f"{MARK}={folder}".encode() in (entry / "environ").read_bytes().split(b"\0")
            named = str(folder).encode() in (entry / "cmdline").read_bytes()
            owned = entry.stat().st_uid in uids
        except OSError:
            continue
        if marked or owned or (named and b"guard" not in (entry / "cmdline").read_bytes()):
            found.append(int(entry.name))
    return found


def clean(folder: Path) -> None:
    """Until nothing is left, for at most five seconds."""
    for _round in range(50):
        left = processes(folder)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if not left:
            break
        time.sleep(0.1)
    uids = (folder / "uids").read_text().split() if (folder / "uids").exists() else []
    for uid in uids:
        try:
            name = pwd.getpwuid(int(uid)).pw_name
        except KeyError:
            continue
        subprocess.run(["userdel", name], check=False, stdin=subprocess.DEVNULL, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin.buffer.read()
    clean(Path(sys.argv[1]))
