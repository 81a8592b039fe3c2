"""Runs every stage of the gate and prints its time: `python -m anchorgpu.checks [--full] [for pytest]`."""

import os
import subprocess  # each stage is a program
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
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
    """In the order of their cost; those that load Django get the settings of a production installation."""

    def module(name: str, *options: str) -> list[str]:
        return [PYTHON, "-m", name, *options]

    manage = [PYTHON, "manage.py"]
    return [
        Stage("lint", module("ruff", "check", "--output-format", "concise", ".")),
        Stage("format", module("ruff", "format", "--check", ".")),
        Stage("templates", module("djlint", "--lint", "--quiet", "templates")),
        Stage("file sizes", module("anchorgpu.checks.sizes")),
        Stage("addresses", module("anchorgpu.checks.addresses")),
        Stage("translations", module("anchorgpu.checks.translations")),
        Stage("security", module("bandit", "-c", "pyproject.toml", "-q", "-ll", "-r", ".")),
        Stage("import contracts", [PYTHON, "-c", LINT_IMPORTS], settings),
        Stage("types", module("mypy", ".")),
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
    print(f"== {stage.name}", flush=True)
    started = time.monotonic()
    env = {**os.environ, **stage.env}
    done = subprocess.run(stage.command, cwd=ROOT, env=env, check=False)  # fixed programs
    word = "ok" if done.returncode == 0 else f"FAILED (code {done.returncode})"
    print(f"== {stage.name}: {word}, {time.monotonic() - started:.1f} s", flush=True)
    return done.returncode == 0


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
            failed = [stage.name for stage in stages(settings, arguments) if not run(stage)]
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
