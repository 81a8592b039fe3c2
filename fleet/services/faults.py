"""Switch faults of the simulated engine on and off: in the demo, for whoever wants to see what happens then."""

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core import audit, clock
from core.errors import Conflict, Forbidden, Invalid
from fleet import locks
from fleet.models import Card, Lease, Node, SimulatedFault
from fleet.providers.faults import BEFALLS, LONGEST_DELAY_SECONDS

Kind = SimulatedFault.Kind
MAX_USES = 100_000


@dataclass(frozen=True)
class FaultRequest:
    """What goes wrong. Empty: any lease, card, node, verb that the kind can befall; `uses` None: until switched off."""

    kind: str
    verb: str = ""
    lease_id: int | None = None
    card_serial: str = ""
    node_name: str = ""
    seconds: float = 0.0
    uses: int | None = None


def switch_on(request: FaultRequest, *, actor: str, reason: str = "") -> SimulatedFault:
    """Let the simulated engine show a fault. Locks nothing; a repeat is a second fault.

    Raises Forbidden(demo_only) outside the demo, Invalid for a request that can never strike.
    """
    _demo_only()
    check_fault(request)
    with transaction.atomic():
        fault = SimulatedFault.objects.create(
            kind=request.kind,
            verb=request.verb,
            lease_id=request.lease_id,
            card_serial=request.card_serial,
            node_name=request.node_name,
            seconds=request.seconds,
            uses_left=request.uses,
            made_by=actor,
            made_at=clock.now(),
        )
        audit.record(
            actor=actor,
            action="fault.on",
            subject=f"fault:{fault.pk}",
            reason=reason,
            after={
                "kind": fault.kind,
                "verb": fault.verb,
                "lease": fault.lease_id,
                "card": fault.card_serial,
                "node": fault.node_name,
                "seconds": fault.seconds,
                "uses": fault.uses_left,
            },
        )
        return fault


def switch_off(*, fault_id: int, actor: str, reason: str = "") -> SimulatedFault:
    """The engine works again. Locks the fault. Raises Forbidden(demo_only), Conflict(already_done)."""
    _demo_only()
    with transaction.atomic():
        fault = locks.fault_for_update(fault_id)
        if fault.ended_at is not None:
            raise Conflict(code="already_done", message=_("This is already done."))
        fault.ended_at = clock.now()
        fault.save(update_fields=["ended_at"])
        audit.record(
            actor=actor, action="fault.off", subject=f"fault:{fault.pk}", reason=reason, before={"on": True}
        )
        return fault


def _demo_only() -> None:
    if not settings.DEMO:
        raise Forbidden(code="demo_only", message=_("Faults can be switched on in the demo only."))


def check_fault(request: FaultRequest) -> None:
    """Raises Invalid, with the field, for a fault that can never strike."""
    if request.kind not in Kind.values:
        raise Invalid(code="unknown_fault", message=_("There is no such fault."), field="kind")
    if request.verb and request.verb not in BEFALLS[request.kind]:
        raise Invalid(
            code="fault_never_strikes", message=_("This fault cannot befall this step."), field="verb"
        )
    if request.kind == Kind.NODE_AWAY and not request.node_name:
        raise Invalid(code="node_missing", message=_("Say which node is away."), field="node_name")
    if request.node_name and not Node.objects.filter(name=request.node_name).exists():
        raise Invalid(code="unknown_node", message=_("There is no such node."), field="node_name")
    if request.card_serial and not Card.objects.filter(serial=request.card_serial).exists():
        raise Invalid(code="unknown_card", message=_("There is no such card."), field="card_serial")
    if request.lease_id is not None and not Lease.objects.filter(pk=request.lease_id).exists():
        raise Invalid(code="unknown_lease", message=_("There is no such lease."), field="lease_id")
    if request.uses is not None and not 1 <= request.uses <= MAX_USES:
        raise Invalid(code="uses_out_of_range", message=_("Once at least."), field="uses")
    if not 0 <= request.seconds <= LONGEST_DELAY_SECONDS or (
        request.kind == Kind.DELAY and request.seconds == 0
    ):
        raise Invalid(
            code="seconds_out_of_range",
            message=ngettext_lazy(
                "A delay lasts more than 0 and at most %(most)s second.",
                "A delay lasts more than 0 and at most %(most)s seconds.",
                "most",
            ),
            params={"most": int(LONGEST_DELAY_SECONDS)},
            field="seconds",
        )
