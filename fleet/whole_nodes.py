"""Whole nodes: an engine that grants nodes and never parts of them sells only lots of a node's full card count."""

from collections.abc import Mapping

from django.conf import settings
from django.db.models import Count
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from catalog.models import Accelerator, Lot
from core.errors import Conflict, Invalid
from fleet.models import Node

# One mode for a cluster: a Slurm that mixes whole nodes with parts of them grants the same cards twice (docs/slurm.md).
_SOLD_WHOLE = frozenset({"slurm"})


def are_sold_whole() -> bool:
    """Whether the configured engine grants whole nodes only."""
    return settings.PROVIDER in _SOLD_WHOLE


def node_sizes() -> Mapping[str, int]:
    """Cards of a node by accelerator; empty where parts of nodes are sold, or where there is no node yet. 1 query."""
    if not are_sold_whole():
        return {}
    nodes = Node.objects.annotate(size=Count("cards")).order_by("size")
    return dict(nodes.values_list("accelerator__slug", "size"))


def check_size(*, accelerator: Accelerator, cards: int) -> None:
    """A node of so many cards may join the fleet. 2 queries.

    Raises Invalid(node_size_differs) beside nodes of another size, since a lot would fit on some nodes only, and
    Conflict(lots_of_parts) while lots of another size are on sale.
    """
    size = node_sizes().get(accelerator.slug, cards)
    if not are_sold_whole():
        return
    if size != cards:
        raise Invalid(
            code="node_size_differs",
            message=ngettext_lazy(
                "Nodes of this cluster are sold whole, and those of this accelerator have %(cards)s card: "
                "one of another size cannot be sold beside them.",
                "Nodes of this cluster are sold whole, and those of this accelerator have %(cards)s cards: "
                "one of another size cannot be sold beside them.",
                "cards",
            ),
            field="serials",
            params={"cards": size},
        )
    parts = Lot.objects.filter(accelerator=accelerator, on_sale=True).exclude(cards=cards)
    if codes := list(parts.order_by("cards").values_list("code", flat=True)):
        raise Conflict(
            code="lots_of_parts",
            message=_(
                "Nodes of this cluster are sold whole, and this one has %(cards)s cards. Withdraw these lots first "
                "(Catalogue, Lots): %(lots)s."
            ),
            field="serials",
            params={"cards": cards, "lots": ", ".join(codes)},
        )
