"""Machines of the demo: enough of each accelerator on sale to sell every lot size at least once."""

from catalog.models.accelerator import HostArch, Stack
from catalog.selectors import catalogue
from core.errors import Conflict
from fleet.services.add_node import add_node

SITE = "demo"
# Others get one node of their largest lot. Those that people try first get more: nodes and cards of each, so that
# one large order does not empty the shop.
LARGER = {"b200-180": (2, 8), "h100-sxm-80": (2, 8)}
# Newer than what any environment of the demo asks for.
DRIVERS = {Stack.CUDA: "580.95.05", Stack.ROCM: "6.14.14"}
STACKS = {Stack.CUDA: "CUDA 13.0", Stack.ROCM: "ROCm 7.0"}


def add_demo_nodes(*, actor: str) -> int:
    """Add what is missing; how many nodes were added. May be repeated."""
    added = 0
    for entry in catalogue():
        if not entry.on_sale:
            continue
        accelerator = entry.accelerator
        nodes, cards = LARGER.get(accelerator.slug, (1, max(entry.lot_cards)))
        for number in range(1, nodes + 1):
            name = f"{accelerator.slug}-{number:02d}"
            try:
                add_node(
                    name=name,
                    site=SITE,
                    accelerator=accelerator.slug,
                    host_arch=HostArch(accelerator.host_arch),
                    driver_version=DRIVERS[Stack(accelerator.stack)],
                    topology=accelerator.link or "",
                    stack_version=STACKS[Stack(accelerator.stack)],
                    serials=[f"DEMO-{name}-{index}".upper() for index in range(cards)],
                    actor=actor,
                )
                added += 1
            except Conflict:
                continue
    return added
