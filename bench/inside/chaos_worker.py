"""The worker of bench.chaos: each call of the engine is struck by a fault with a chance of one in ten."""

import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from anchorgpu.worker import app
from bench.inside.chaos_slurm import StruckSlurm
from core import clock
from fleet import providers
from fleet.models import Lease, SimulatedFault
from fleet.providers.faults import BEFALLS
from fleet.providers.simulated import SimulatedProvider
from fleet.selectors import cards_of_hold
from fleet.services.faults import FaultRequest, switch_on

__all__ = ["app"]

SHARE = 0.1
DELAY_SECONDS = (0.1, 1.0)
ACTOR = "bench.chaos"
FOLDER = Path(os.environ["CHAOS_FOLDER"])
# Faults strike while this file is there.
FAULTS_FILE = FOLDER / "faults"
_VERBS = frozenset().union(*BEFALLS.values())
_chance = random.SystemRandom()


class Struck:
    """An engine; before a call the fault that it meets is switched on as staff do it in the demo."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._engine = make()

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        call: Callable[..., Any] = getattr(self._engine, verb)
        if verb not in _VERBS:
            return call

        def struck(*arguments: Any) -> Any:
            if not FAULTS_FILE.exists():
                return call(*arguments)
            _count_call()
            if _chance.random() >= SHARE:
                return call(*arguments)
            fault = _switch_on(verb, arguments[0] if arguments else None)
            try:
                return call(*arguments)
            finally:
                # One that found nothing to befall must not wait for another call.
                SimulatedFault.objects.filter(pk=fault.pk, ended_at=None).update(ended_at=clock.now())

        return struck


def _switch_on(verb: str, subject: Any) -> SimulatedFault:
    lease_id = subject if isinstance(subject, int) else getattr(subject, "lease_id", None)
    kind = _chance.choice([name for name, verbs in sorted(BEFALLS.items()) if verb in verbs])
    request = FaultRequest(kind=str(kind), verb=verb, lease_id=lease_id, uses=1)
    if kind == SimulatedFault.Kind.NODE_AWAY and lease_id is not None:
        request = replace(request, node_name=_node_of(lease_id))
    elif kind == SimulatedFault.Kind.DELAY:
        request = replace(request, seconds=_chance.uniform(*DELAY_SECONDS))
    return switch_on(request, actor=ACTOR)


def _node_of(lease_id: int) -> str:
    return cards_of_hold(Lease.objects.get(pk=lease_id).hold_id)[0].node.name


def _count_call() -> None:
    """One byte for each call: appends of one byte are not lost between processes, nor by a kill."""
    with (FOLDER / "calls").open("ab") as calls:
        calls.write(b".")


providers._PROVIDERS["simulated"] = lambda: Struck(SimulatedProvider)
providers._PROVIDERS["slurm"] = lambda: Struck(StruckSlurm)
