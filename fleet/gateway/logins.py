"""What the gateway reads and writes, each call by itself in a thread: who may log in, until when."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ParamSpec, TypeVar

from django.db import close_old_connections, transaction

from core import clock, events
from core.client_address import network_prefix
from core.models import Audience, Event
from fleet import locks
from fleet.lifecycle import OPEN_STATES, LeaseStatus
from fleet.models import AccessKey, Lease
from fleet.selectors import cards_of_hold

P = ParamSpec("P")
R = TypeVar("R")

# A script that logs in each second would fill the buyer's timeline; one row a minute tells the same.
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


@dataclass(frozen=True)
class Standing:
    """Whether an open session may go on, and how long."""

    is_open: bool
    suspended: bool
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

    One query for every kind of wrong login: unknown user, another lease's key, not yet started, over.
    """
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
        return Standing(is_open=False, suspended=False, now=moment, ends_at=None)
    return Standing(
        is_open=key.removed_at is None and _is_open(key, moment),
        suspended=key.lease.status == LeaseStatus.SUSPENDED,
        now=moment,
        ends_at=key.lease.ends_at,
    )


@with_connection
def record_login(*, key_id: int, address: str) -> bool:
    """Tell the buyer's timeline of a login, at most once a minute per key. True if a row was written.

    Locks the lease, so that two logins at once write one row.
    """
    with transaction.atomic():
        key = AccessKey.objects.get(pk=key_id)
        lease = locks.lease_for_update(key.lease_id)
        recent = Event.objects.filter(
            name="lease.login",
            subject=f"lease:{lease.pk}",
            payload__fingerprint=key.fingerprint,
            at__gt=clock.now() - LOGIN_EVENT_PAUSE,
        )
        if recent.exists():
            return False
        events.emit(
            name="lease.login",
            subject=f"lease:{lease.pk}",
            order_ref=lease.order_ref,
            audience=Audience.BUYER,
            payload={"fingerprint": key.fingerprint, "network": network_prefix(address)},
        )
        return True


def _is_open(key: AccessKey, moment: datetime) -> bool:
    """A lease under test admits the test key alone; an open one the buyer's keys until its last second."""
    lease: Lease = key.lease
    if key.purpose == AccessKey.Purpose.TEST:
        return lease.status == LeaseStatus.TESTING
    return lease.status in OPEN_STATES and lease.ends_at is not None and moment < lease.ends_at
