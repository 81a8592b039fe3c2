"""The whole shop as a person starts it: every real part, one purchase over HTTP, a login, a term to its end."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from anchorgpu.env_file import read_env_file
from anchorgpu.services.ports import accepts_connections, free_port

ROOT = Path(__file__).resolve().parents[2]
SSH_OPTIONS = [
    *("-o", "BatchMode=yes"),
    *("-o", "StrictHostKeyChecking=no"),
    *("-o", "UserKnownHostsFile=/dev/null"),
]
# What the demo must not inherit: the servers of this test run.
OWN = {"PATH", "HOME", "LANG", "TMPDIR"}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A running demo in a copy of the tree; what is installed is borrowed."""
    folder = tmp_path_factory.mktemp("shop")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    for borrowed in (".venv", "node_modules"):
        (folder / borrowed).symlink_to(ROOT / borrowed)
    arguments = ["--port", str(free_port()), "--ssh-port", str(free_port())]
    with (folder / "said").open("w") as said:
        demo = subprocess.Popen(
            [sys.executable, "-m", "anchorgpu.demo", *arguments],
            cwd=folder,
            env=_environment(),
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_ready(demo, folder / "said")
            yield folder
        finally:
            demo.send_signal(signal.SIGTERM)
            assert demo.wait(timeout=20) == 0


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in OWN}


def _wait_until_ready(demo: subprocess.Popen[bytes], said: Path) -> None:
    """Follow what it says; it ends by itself where it cannot start."""
    with subprocess.Popen(
        ["tail", "-n", "+1", "-F", f"--pid={demo.pid}", str(said)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as follow:
        assert follow.stdout is not None
        for line in follow.stdout:
            if line.startswith("AnchorGPU is ready at "):
                follow.terminate()
                return
    raise AssertionError(said.read_text())


def manage(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.chain
def test_from_the_catalogue_to_a_login_and_on_to_the_end(shop: Path) -> None:
    bought = json.loads(manage(shop, "demo_buy", "--json").splitlines()[-1])
    assert bought["ok"]
    assert bought["client"] == "ssh"
    assert {"quote", "order", "pay", "claim", "final", "ready", "login"} <= set(bought["seconds"])

    manage(shop, "demo_clock", "--skip", "3d1h")
    with urllib.request.urlopen(bought["order"], timeout=10) as answer:
        page = re.sub(r"\s+", " ", answer.read().decode())
    assert "Nothing of yours remains on these machines" in page
    assert "ssh -p" not in page

    ports = read_env_file(shop / "var" / "env")
    refused = subprocess.run(
        ["ssh", "-p", ports["SSH_PORT"], *SSH_OPTIONS, f"{bought['user']}@127.0.0.1", "hostname"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert refused.returncode == 255
    assert "Permission denied" in refused.stderr
    assert accepts_connections(int(ports["SSH_PORT"]))
