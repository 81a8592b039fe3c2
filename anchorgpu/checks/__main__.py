"""Runs every stage of the gate and prints its time: `python -m anchorgpu.checks [--full] [for pytest]`."""

import os
import subprocess  # each stage is a program
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from anchorgpu.services.postgres import Postgres
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = sys.executable
# Workers wait for the tests' own servers, processes and browsers a third of their time.
WORKERS = "3"
LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_logo=True))"


@dataclass(frozen=True)
class Stage:
    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)


def stages(settings: Mapping[str, str], arguments: Sequence[str]) -> list[Stage]:
    """The longest first, the tests last; those that load Django get the settings of a production installation."""

    def module(name: str, *options: str) -> list[str]:
        return [PYTHON, "-m", name, *options]

    manage = [PYTHON, "manage.py"]
    return [
        Stage("types", module("mypy", ".")),
        Stage("lint", module("ruff", "check", "--output-format", "concise", ".")),
        Stage("format", module("ruff", "format", "--check", ".")),
        Stage("templates", module("djlint", "--lint", "--quiet", "templates")),
        Stage("file sizes", module("anchorgpu.checks.sizes")),
        Stage("addresses", module("anchorgpu.checks.addresses")),
        Stage("translations", module("anchorgpu.checks.translations")),
        Stage("security", module("bandit", "-c", "pyproject.toml", "-q", "-ll", "-r", ".")),
        Stage("import contracts", [PYTHON, "-c", LINT_IMPORTS], settings),
        Stage("migrations", [*manage, "makemigrations", "--check", "--dry-run"], settings),
        Stage("check --deploy", [*manage, "check", "--deploy", "--fail-level", "WARNING"], settings),
        Stage("tests", module("pytest", *pytest_arguments(arguments))),
    ]


def pytest_arguments(arguments: Sequence[str]) -> list[str]:
    """`--full` adds the long runs; whoever names files or options gets just that, in one process."""
    rest = ["--run-full" if argument == "--full" else argument for argument in arguments]
    is_plain = all(argument == "--run-full" for argument in rest)
    return ["-n", WORKERS, "--dist", "loadgroup", *rest] if is_plain else rest


def run(stage: Stage) -> bool:
    """The tests tell how they go on; of a short stage all is printed at its end, because two run at a time."""
    is_long = stage.name == "tests"
    print(f"== {stage.name}", flush=True)
    started = time.monotonic()
    done = subprocess.run(  # fixed programs
        stage.command,
        cwd=ROOT,
        env={**os.environ, **stage.env},
        check=False,
        stdout=None if is_long else subprocess.PIPE,
        stderr=None if is_long else subprocess.STDOUT,
        text=True,
    )
    word = "ok" if done.returncode == 0 else f"FAILED (code {done.returncode})"
    end = f"== {stage.name}: {word}, {time.monotonic() - started:.1f} s"
    print(f"{done.stdout or ''}{end}", flush=True)
    return done.returncode == 0


def run_all(found: Sequence[Stage]) -> list[str]:
    """Names of the stages that failed. All run: two at a time, and the tests, which take both cores, by themselves."""
    *short, tests = found
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, short))
    failed = [stage.name for stage, went_well in zip(short, results, strict=True) if not went_well]
    return failed if run(tests) else [*failed, tests.name]


def main(arguments: Sequence[str]) -> int:
    """All stages run, whatever fails: one run tells everything."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="anchorgpu-checks-") as folder:
        settings = production_settings(Path(folder))
        postgres = Postgres(folder=Path(folder) / "postgres", log_file=Path(folder) / "log", durable=False)
        postgres.start()
        try:
            postgres.create_database("anchorgpu")
            settings["DATABASE_URL"] = postgres.url("anchorgpu")
            failed = run_all(stages(settings, arguments))
        finally:
            postgres.stop()
    total = f"{time.monotonic() - started:.0f} s"
    if failed:
        print(f"bin/test: FAILED after {total}: {', '.join(failed)}")
        return 1
    print(f"bin/test: all green after {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
