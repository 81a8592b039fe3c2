"""File sizes: aim under 300 lines, stop at 500. The size of functions is ruff's business."""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
STOP_LINES, AIM_LINES = 500, 300
LEFT_OUT = {".venv", ".boot", ".git", "node_modules", "var", "migrations", "__pycache__"}
SUFFIXES = {".py", ".html", ".css", ".js", ".sh"}


def too_long(root: Path) -> tuple[list[str], list[str]]:
    """Files over the stop, and files over the aim, each with its count."""
    stopped, long = [], []
    for file in _sources(root):
        lines = len(file.read_text(encoding="utf-8").splitlines())
        text = f"{file.relative_to(root)}: {lines} lines"
        if lines > STOP_LINES:
            stopped.append(text)
        elif lines > AIM_LINES:
            long.append(text)
    return stopped, long


def _sources(root: Path) -> Iterator[Path]:
    for path in sorted(root.iterdir()):
        if path.name in LEFT_OUT or path.is_symlink():
            continue
        if path.is_dir():
            # Vendored scripts, data and what is generated keep the size they came with.
            if path.name not in ("vendor", "data", "clients"):
                yield from _sources(path)
        elif path.suffix in SUFFIXES:
            yield path


def main() -> int:
    stopped, long = too_long(ROOT)
    for text in long:
        print(f"over {AIM_LINES}: {text}")
    for text in stopped:
        print(f"over {STOP_LINES}, split it: {text}")
    return 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
