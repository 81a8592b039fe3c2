"""What the gateway reads and writes, each call by itself in a thread: who may log in, until when."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections, transaction

from core import clock, events
from core.client_address import network_prefix
from core.models import Audience, Event
from fleet import locks
from fleet.lifecycle import OVER_STATES, TEARDOWN_STATES, LeaseStatus
from fleet.models import AccessKey, Lease
from fleet.selectors import cards_of_hold, is_open, is_under_test

P = ParamSpec("P")
R = TypeVar("R")

# Nobody logs in by hand more often than this; each login up to here is a row of its own.
LOGINS_TOLD_PER_HOUR = 60
# A script that logs in each second would fill the log; above that bound one row a minute tells the same.
LOGIN_EVENT_PAUSE = timedelta(minutes=1)


@dataclass(frozen=True)
class CardView:
    """A card as the terminal shows it; None is "not known"."""

    node: str
    index: int
    serial: str
    model: str
    memory_gb: int | None
    power_w: int | None


@dataclass(frozen=True)
class Login:
    """One key that may open one lease at this moment, with all that the session shows."""

    key_id: int
    lease_id: int
    username: str
    is_test: bool
    image: str
    stack: str
    stack_version: str
    driver: str
    nvme_gb: int | None
    cards: tuple[CardView, ...]
    ends_at: datetime | None


class Cut(StrEnum):
    """Why a session may not go on."""

    KEY_REMOVED = "key_removed"
    ENDED = "ended"
    SUSPENDED = "suspended"
    MOVING = "moving"
    CLOSED = "closed"


@dataclass(frozen=True)
class Standing:
    """Whether an open session may go on (`cut` is None), and how long."""

    cut: Cut | None
    now: datetime
    ends_at: datetime | None


def with_connection(function: Callable[P, R]) -> Callable[P, R]:
    """For a call in a thread: its database connection goes back to the pool afterwards."""

    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        close_old_connections()
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    return run


@with_connection
def find_login(*, username: str, fingerprint: str) -> Login | None:
    """The login that this key opens now, or None.

    One query for every kind of wrong login: unknown user, another lease's key, not yet started, over. The gateway is
    the simulated nodes' own: where leases are on a cluster it opens nothing.
    """
    if settings.PROVIDER != "simulated":
        return None
    key = (
        AccessKey.objects.select_related("lease__hold__lot__accelerator")
        .filter(lease__username=username, fingerprint=fingerprint, removed_at=None)
        .first()
    )
    if key is None or not _is_open(key, clock.now()):
        return None
    lease = key.lease
    cards = cards_of_hold(lease.hold_id)
    facts = lease.image_facts if isinstance(lease.image_facts, dict) else {}
    lot = lease.hold.lot
    return Login(
        key_id=key.pk,
        lease_id=lease.pk,
        username=lease.username,
        is_test=key.purpose == AccessKey.Purpose.TEST,
        image=str(facts.get("name") or lease.image),
        stack=str(facts.get("stack") or lot.accelerator.stack),
        stack_version=str(facts.get("stack_version") or ""),
        driver=cards[0].node.driver_version if cards else "",
        nvme_gb=None if lot.nvme_gb is None else lot.nvme_gb * lease.hold.lots,
        cards=tuple(
            CardView(
                node=card.node.name,
                index=card.index,
                serial=card.serial,
                model=card.node.accelerator.name,
                memory_gb=card.node.accelerator.memory_gb,
                power_w=card.node.accelerator.board_power_w,
            )
            for card in cards
        ),
        ends_at=lease.ends_at,
    )


@with_connection
def standing(*, key_id: int) -> Standing:
    """What has become of the lease and the key of an open session."""
    key = AccessKey.objects.select_related("lease").filter(pk=key_id).first()
    moment = clock.now()
    if key is None:
        return Standing(cut=Cut.KEY_REMOVED, now=moment, ends_at=None)
    return Standing(cut=_cut(key, moment), now=moment, ends_at=key.lease.ends_at)


def _cut(key: AccessKey, moment: datetime) -> Cut | None:
    """The end of the lease is named before the removal of the key: it is why nothing opens any more."""
    lease: Lease = key.lease
    if key.removed_at is None and _is_open(key, moment):
        return None
    if lease.status in TEARDOWN_STATES | OVER_STATES or (
        lease.ends_at is not None and moment >= lease.ends_at
    ):
        return Cut.ENDED
    if key.removed_at is not None:
        return Cut.KEY_REMOVED
    if lease.status == LeaseStatus.SUSPENDED:
        return Cut.SUSPENDED
    return Cut.CLOSED if lease.moving_at is None else Cut.MOVING


@with_connection
def record_login(*, key_id: int, address: str) -> bool:
    """Write a login into the log; False where a flood of them is told once a minute only.

    Locks the lease, so that logins at once count each other.
    """
    with transaction.atomic():
        key = AccessKey.objects.get(pk=key_id)
        lease = locks.lease_for_update(key.lease_id)
        moment = clock.now()
        earlier = Event.objects.filter(
            name="lease.login",
            order_ref=lease.order_ref,
            payload__fingerprint=key.fingerprint,
            at__gt=moment - timedelta(hours=1),
        ).order_by("-pk")
        times = list(earlier.values_list("at", flat=True)[:LOGINS_TOLD_PER_HOUR])
        if len(times) == LOGINS_TOLD_PER_HOUR and times[0] > moment - LOGIN_EVENT_PAUSE:
            return False
        events.emit(
            name="lease.login",
            subject=f"lease:{lease.pk}",
            order_ref=lease.order_ref,
            audience=Audience.BUYER,
            payload={
                "fingerprint": key.fingerprint,
                "member": key.member,
                "network": network_prefix(address),
            },
        )
        return True


def _is_open(key: AccessKey, moment: datetime) -> bool:
    """A lease under test admits the test key alone; an open one the buyer's keys until its last second."""
    lease: Lease = key.lease
    return is_under_test(lease) if key.purpose == AccessKey.Purpose.TEST else is_open(lease, moment)
