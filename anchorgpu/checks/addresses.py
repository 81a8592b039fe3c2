"""No file names a package registry: a lock that carries addresses would bind everybody to one of them."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LOCKS = ("requirements.txt", "requirements-dev.txt", "package-lock.json", "package.json", "pyproject.toml")


def main() -> int:
    bad = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name in LOCKS
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"https?://|--(extra-)?index-url|\"resolved\"", line)
        and '"url": "https://github.com/sponsors' not in line
    ]
    for line in bad:
        print(f"names an address: {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
