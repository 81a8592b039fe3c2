"""Machines, holds and leases for tests; holds and leases are made by the services themselves."""

# mypy: disable-error-code="no-untyped-call"
# The declarations of factory-boy carry no types; the rows that `create` returns do.

from collections.abc import Sequence as Several
from datetime import datetime, timedelta
from itertools import count

import asyncssh
from django.db import transaction
from factory.declarations import LazyAttribute, Sequence, SubFactory
from factory.django import DjangoModelFactory

from catalog.models import Accelerator, Lot
from core import clock
from fleet.keys import PublicKey, parse_keys
from fleet.limits import HoldLimits
from fleet.models import Card, Hold, Lease, Node
from fleet.services.commit import LeaseRequest, commit
from fleet.services.hold import HoldRequest, hold
from tests.factories.catalog import AcceleratorFactory, LotFactory

TERM_SECONDS = 3 * 24 * 3600
NO_LIMITS = HoldLimits(orders_per_owner=10_000, cards_per_owner=10_000, orders_per_prefix=None)
_numbers = count(1)


class NodeFactory(DjangoModelFactory[Node]):
    class Meta:
        model = Node

    name = Sequence(lambda n: f"node-{n:03d}")
    site = "Test site"
    accelerator = SubFactory(AcceleratorFactory)
    host_arch = "x86_64"
    driver_version = "570.86.15"


class CardFactory(DjangoModelFactory[Card]):
    class Meta:
        model = Card

    node = SubFactory(NodeFactory)
    index = Sequence(lambda n: n)
    serial = LazyAttribute(lambda o: f"{o.node.name}-{o.index}")


def make_node(*, accelerator: Accelerator, cards: int) -> Node:
    """A node with cards 0 to `cards` - 1."""
    node = NodeFactory.create(accelerator=accelerator)
    for index in range(cards):
        CardFactory.create(node=node, index=index)
    return node


def make_lot(*, cards: int = 2, nodes: Several[int] = (2,)) -> Lot:
    """A lot of `cards` cards and a fleet of nodes with so many cards each."""
    accelerator = AcceleratorFactory.create(board_power_w=700)
    for number in nodes:
        make_node(accelerator=accelerator, cards=number)
    return LotFactory.create(accelerator=accelerator, cards=cards)


def new_key() -> tuple[asyncssh.SSHKey, PublicKey]:
    """A fresh pair and its public half as intake makes it."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    return key, parse_keys(key.export_public_key("openssh").decode())[0]


def hold_request(
    lot: Lot,
    *,
    lots: int = 1,
    starts_at: datetime | None = None,
    owner: str = "",
    limits: HoldLimits = NO_LIMITS,
    term_seconds: int = TERM_SECONDS,
) -> HoldRequest:
    number = next(_numbers)
    return HoldRequest(
        ref=f"order-{number}",
        owner=owner or f"owner-{number}",
        prefix="",
        lot=lot,
        lots=lots,
        term_seconds=term_seconds,
        starts_at=starts_at,
        expires_at=clock.now() + timedelta(hours=1),
        driver_minimum="",
        limits=limits,
    )


def make_hold(lot: Lot, *, lots: int = 1, starts_at: datetime | None = None) -> Hold:
    with transaction.atomic():
        return hold(hold_request(lot, lots=lots, starts_at=starts_at))


def make_lease(
    lot: Lot, *, lots: int = 1, starts_at: datetime | None = None, keys: Several[PublicKey] = ()
) -> Lease:
    """A lease in its first state, from a hold that was paid at once."""
    held = make_hold(lot, lots=lots, starts_at=starts_at)
    with transaction.atomic():
        lease = commit(
            LeaseRequest(
                ref=held.ref,
                image="pytorch",
                image_facts={"name": "PyTorch", "stack": "CUDA", "stack_version": "12.8"},
                keys=keys or [new_key()[1]],
                settled_at=clock.now(),
            )
        )
    assert lease is not None
    return lease
