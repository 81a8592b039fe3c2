"""The whole shop as a person starts it: the tutorial of the API, a purchase over pages, a login, a term to its end."""

import contextlib
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
# One demo for all of them, in one process.
pytestmark = [pytest.mark.chain, pytest.mark.xdist_group("demo")]
# Ten times what it takes on a quiet machine; the gate shares two cores.
TUTORIAL_SECONDS = 240
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
    compiled = [str(file.relative_to(ROOT)) for file in (ROOT / "locale").rglob("*.mo")]
    for name in filter(None, [*listed.stdout.decode().split("\0"), *compiled]):
        target = folder / name
        if not (ROOT / name).exists():  # removed, and not yet so in the index
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    for borrowed in (".venv", "node_modules"):
        (folder / borrowed).symlink_to(ROOT / borrowed)
    arguments = ["--port", str(free_port()), "--ssh-port", str(free_port())]
    with subprocess.Popen(
        [sys.executable, "-m", "anchorgpu.demo", *arguments],
        cwd=folder,
        env=_environment() | {"WEBHOOK_LOOPBACK": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as demo:
        try:
            _wait_until_ready(demo)
            yield folder
        finally:
            demo.send_signal(signal.SIGTERM)
            assert demo.wait(timeout=20) == 0


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in OWN}


def _wait_until_ready(demo: "subprocess.Popen[str]") -> None:
    """Follow what it says; it ends by itself where it cannot start."""
    assert demo.stdout is not None
    said: list[str] = []
    for line in demo.stdout:
        said.append(line)
        if line.startswith("AnchorGPU is ready at "):
            return
    raise AssertionError("".join(said))


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


def test_the_tutorial_works_as_written(shop: Path) -> None:
    """Each shell block of docs/api.md, in its order, in one shell."""
    text = (shop / "docs/api.md").read_text(encoding="utf-8")
    (tutorial,) = re.findall(r"^## From a key to a login\n(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```", tutorial, re.DOTALL | re.MULTILINE))
    site = read_env_file(shop / "var" / "env")["SITE_URL"]
    shell = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=shop,
        env=_environment() | {"SHOP": site, "PORT": str(free_port())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # its receiver goes with it, whatever happens
    )
    try:
        said, _none = shell.communicate(timeout=TUTORIAL_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
    assert shell.returncode == 0, said
    assert "GENUINE: signed by " in said
    assert "NVIDIA-SMI" in said
    heard = re.findall(r"^evt_\d+ ([a-z_.]+) ord_", said, re.MULTILINE)
    expected = ["order.placed", "payment.settled", "order.paid", "lease.ready", "order.active"]
    assert [name for name in heard if name in expected] == expected
    assert "Traceback" not in (shop / "receiver.log").read_text(encoding="utf-8")


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
