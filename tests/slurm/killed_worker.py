"""A worker that is killed with SIGKILL when Slurm has done what it was told; run as a program by test_failures.py.

Its arguments are a lease and how the command starts, such as `scontrol create`.
"""

import os
import signal
import sys

import django

django.setup()

from fleet import providers  # noqa: E402
from fleet.providers.slurm.provider import SlurmProvider  # noqa: E402
from fleet.providers.slurm.tools import TOOL_SECONDS, Tools  # noqa: E402
from fleet.services.sweep import advance_lease  # noqa: E402

LEASE, *START = sys.argv[1:]


class DeadlyTools(Tools):
    """The command takes effect, and nobody is left to write that down."""

    def run(self, *command: str, user: str = "", seconds: float = TOOL_SECONDS) -> str:
        answer = super().run(*command, user=user, seconds=seconds)
        if list(command[: len(START)]) == START:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer


providers._PROVIDERS["slurm"] = lambda: SlurmProvider(tools=DeadlyTools())
advance_lease(lease_id=int(LEASE))
