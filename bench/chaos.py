"""Whole terms of many leases while programs and servers are killed and the engine fails at a tenth of its calls.

    python -m bench.chaos [--provider simulated|slurm] [--leases 500] [--kills N] [--seed N] [--json] [--keep]

Starts PostgreSQL, Valkey, web, worker, beat and the SSH gateway of its own in a temporary folder on free ports, also
beside a running demo. Buyers order and pay by facts of a chain; the product's clock skips forward in steps. SIGKILL
befalls each of the programs and servers at random moments, and they are started again as a supervisor would. After the
last fault all must be reconciled within two minutes; then the rest of the terms runs out. Exit code 1 on a breach.

With --provider slurm (as root, after bin/slurm-packages) the engine is a Slurm cluster of four nodes, which is started
too; its controller and its nodes' daemons are killed like the rest. Slurm's clock stays behind the shop's there: ends
come by the shop's hand alone (docs/slurm.md).
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anchorgpu.services.errors import ServiceError
from bench.killing import Stand


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="python -m bench.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("--provider", choices=["simulated", "slurm"], default="simulated")
    arguments.add_argument("--leases", type=int, default=500)
    arguments.add_argument("--kills", type=int, help="stop killing after so many; else until the last order")
    arguments.add_argument("--seed", type=int, default=None, help="of the kills and the buyers' choices")
    arguments.add_argument("--json", action="store_true", help="one JSON object instead of the line")
    arguments.add_argument(
        "--keep", action="store_true", help="keep the folder with all logs, and say where it is"
    )
    return arguments


def sentence(facts: Mapping[str, Any]) -> str:
    """The one line."""
    kills = " ".join(f"{name} {count}" for name, count in sorted(facts["kills"].items()))
    return (
        f"{facts['leases']} leases over {facts['product_days']} days of the product's clock in {facts['seconds']} s, "
        f"{sum(facts['kills'].values())} kills ({kills}), {facts['faults']} faults at {facts['calls']} calls of the "
        f"engine, reconciled {facts['reconciled_seconds']} s after the last; {facts['ends']}; "
        f"{len(facts['breaches'])} breaches"
    )


def main() -> int:
    asked = parser().parse_args()
    seed = random.SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    folder = Path(tempfile.mkdtemp(prefix="anchorgpu-chaos-"))
    chance = random.Random(seed)  # noqa: S311  # a course to repeat, no secret
    stand = Stand(folder, chance=chance, kills=asked.kills, provider=asked.provider)
    try:
        facts = stand.run(["--leases", str(asked.leases), "--seed", str(seed)])
    except ServiceError as problem:
        sys.stderr.write(f"bench.chaos: {problem}\n")
        return 1
    finally:
        stand.stop()
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)
    facts |= {"seed": seed, "kills": dict(Counter(stand.killed))}
    if asked.keep:
        facts["folder"] = str(folder)
        sys.stderr.write(f"The logs are in {folder}\n")
    if asked.json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        sys.stdout.write("".join(f"BREACH: {breach}\n" for breach in facts["breaches"]))
        sys.stdout.write(sentence(facts) + "\n")
    return 1 if facts["breaches"] else 0


if __name__ == "__main__":
    sys.exit(main())
