"""The part of the gate that needs a cluster: `bin/test --slurm` starts one and runs what a driver must do there.

`bin/test --slurm-rest` runs the suite of all providers by REST, on the newer Slurm in the folder of --slurm-root.
"""

import sys
import time
from collections.abc import Sequence

from anchorgpu.checks.__main__ import Stage, run

COMMON = "tests/contract/test_provider_conformance.py"
SUITES = {"--slurm": ("tests/slurm", COMMON), "--slurm-rest": (COMMON,)}


def main(arguments: Sequence[str]) -> int:
    """In one process: there is one cluster. What is missing fails, nothing is skipped."""
    started = time.monotonic()
    wanted = "--slurm-rest" if "--slurm-rest" in arguments else "--slurm"
    rest = [argument for argument in arguments if argument != wanted]
    command = [sys.executable, "-m", "pytest", "--run-slurm", *SUITES[wanted], "-k", "slurm", *rest]
    went_well = run(Stage("tests", command))
    word = "all green" if went_well else "FAILED"
    print(f"bin/test {wanted}: {word} after {time.monotonic() - started:.0f} s")
    return 0 if went_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
