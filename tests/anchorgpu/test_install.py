"""bin/demo, bin/test and bin/install before anything is installed: quick answers, and no wait without an end."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

from tests.anchorgpu.processes import is_alive, wait_for

ROOT = Path(__file__).resolve().parent.parent.parent
Fake = Callable[[str, str], Path]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The files of a fresh clone that answer before anything is installed."""
    for name in (*sorted((ROOT / "bin").iterdir()), ROOT / "anchorgpu" / "demo" / "options.py"):
        target = tmp_path / name.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(name, target)
    return tmp_path


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """bin/install as a module, with a log and folders of its own."""
    loader = SourceFileLoader("bin_install", str(ROOT / "bin" / "install"))
    spec = importlib.util.spec_from_loader("bin_install", loader)
    assert spec is not None
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # else it lies beside the scripts
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    (tmp_path / "log").touch()
    for name, folder in (("ROOT", "."), ("BOOT", "boot"), ("VENV", "venv"), ("LOG", "log")):
        monkeypatch.setattr(module, name, tmp_path / folder)
    return module


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """A program that does what a script says."""

    def make(name: str, script: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        file.chmod(0o755)
        return file

    return make


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("demo", "--help"), 0, "--ssh-port"),
        (("demo", "--port", "abc"), 2, "a port is a number from 1 to 65535"),
        (("demo", "--porte", "1"), 2, "unrecognized arguments"),
        (("test", "--help"), 0, "--full"),
    ],
)
def test_question_is_answered_before_anything_is_installed(
    bare: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    before = sorted(bare.rglob("*"))
    done = subprocess.run(
        [str(bare / "bin" / arguments[0]), *arguments[1:]],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert "install" not in done.stderr
    assert sorted(bare.rglob("*")) == before


def test_step_that_takes_too_long_is_ended_and_says_what_it_said(
    install: Any,
    fake: Fake,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(install, "PROGRESS_SECONDS", 0.2)
    slow = fake("slow", "echo certificate not trusted; sleep 60 & echo $! > child; wait")
    with pytest.raises(install.Problem) as caught:
        install.step("Installing the chain", [slow], seconds=1.0)
    assert str(caught.value).startswith("Installing the chain took longer than 1 s and was ended.")
    assert "certificate not trusted" in str(caught.value)
    assert "    still at it after " in capsys.readouterr().out
    child = int((tmp_path / "child").read_text(encoding="ascii"))
    wait_for(lambda: not is_alive(child), seconds=5, what="end of what it started")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_what_runs(bare: Path, fake: Fake, tmp_path: Path, number: signal.Signals) -> None:
    """Here the first step hangs: a Python that makes no environment."""
    for lock in ("requirements.txt", "package-lock.json"):
        (bare / lock).write_text("", encoding="ascii")
    hang = f'case "$*" in *" --clear "*) echo $$ > {tmp_path}/step; exec sleep 60;; esac; exec {sys.executable} "$@"'
    python = fake("python", hang)
    # A shell's background job ignores SIGINT, and its children inherit that.
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        f"import sys, runpy; sys.executable = {str(python)!r}; sys.argv = ['bin/install', '--then', 'none']; "
    )
    script += "runpy.run_path('bin/install', run_name='__main__')"
    running = subprocess.Popen([sys.executable, "-c", script], cwd=bare, stderr=subprocess.PIPE, text=True)
    step = tmp_path / "step"
    wait_for(lambda: step.exists() and bool(step.read_text(encoding="ascii")), seconds=20, what="first step")
    running.send_signal(number)
    _out, said = running.communicate(timeout=10)
    assert (running.returncode, said) == (130, "Stopped.\n")
    pid = int(step.read_text(encoding="ascii"))
    wait_for(lambda: not is_alive(pid), seconds=5, what="the end of the step")


def test_pip_takes_the_place_of_a_uv_that_fails(
    install: Any, fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("none", encoding="ascii")
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot" / ".installed").write_text(install.UV, encoding="ascii")
    fake("venv/bin/python", "exit 0")
    fake("boot/bin/uv", "echo invalid peer certificate: UnknownIssuer; exit 2")
    fake("boot/bin/python", f'echo "$*" >> {tmp_path}/asked')
    install.install_python_packages("requirements.txt")
    asked = (tmp_path / "asked").read_text(encoding="ascii").splitlines()
    lock = tmp_path / "requirements.txt"
    assert asked[-1] == f"-m pip --python {tmp_path}/venv/bin/python install --require-hashes -r {lock}"
    said = capsys.readouterr().out
    assert "UnknownIssuer" in said
    assert "pip takes its place" in said
    assert (tmp_path / "venv" / ".installed-requirements").read_text("ascii") == install.digest(lock)


def test_full_disk_is_not_tried_again_with_pip(install: Any, fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("none", encoding="ascii")
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot" / ".installed").write_text(install.UV, encoding="ascii")
    fake("venv/bin/python", "exit 0")
    fake("boot/bin/uv", "echo No space left on device; exit 2")
    fake("boot/bin/python", f'[ "$1" = --version ] || touch {tmp_path}/asked')
    with pytest.raises(install.DiskFull, match=r"^The disk is full"):
        install.install_python_packages("requirements.txt")
    assert not (tmp_path / "asked").exists()


def test_installers_trust_what_the_machine_trusts(
    install: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle.crt"
    monkeypatch.setattr(install, "SYSTEM_CERTIFICATES", bundle)
    assert "NODE_EXTRA_CA_CERTS" not in install.with_certificates({})  # there is no such file
    bundle.touch()
    chosen = install.with_certificates({})
    assert (chosen["NODE_EXTRA_CA_CERTS"], chosen["UV_SYSTEM_CERTS"]) == (str(bundle), "1")
    own = tmp_path / "own.crt"
    own.touch()
    chosen = install.with_certificates({"SSL_CERT_FILE": str(own), "UV_SYSTEM_CERTS": "0"})
    assert (chosen["NODE_EXTRA_CA_CERTS"], chosen["UV_SYSTEM_CERTS"]) == (str(own), "0")
    chosen = install.with_certificates({"SSL_CERT_FILE": str(own), "NODE_EXTRA_CA_CERTS": "/mine"})
    assert chosen["NODE_EXTRA_CA_CERTS"] == "/mine"


def test_module_runs_in_the_place_of_the_installer(
    install: Any, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same process, so that whoever ends it ends the demo; and it knows since when the person waits."""
    said = tmp_path / "said"
    fake("venv/bin/python", f'echo "$$ $ANCHORGPU_STARTED $*" > {said}')
    child = os.fork()
    if child == 0:
        install.run_instead(["anchorgpu.demo", "--port", "8080"], 12.5)
    assert os.waitpid(child, 0)[1] == 0
    assert said.read_text(encoding="ascii") == f"{child} 12.5 -m anchorgpu.demo --port 8080\n"
