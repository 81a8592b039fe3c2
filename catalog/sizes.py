"""Lots that the machines behind the shop cannot be sold as. Who knows the machines is named by a setting."""

from collections.abc import Callable, Mapping
from typing import cast

from django.conf import settings
from django.db.models import Q
from django.utils.module_loading import import_string
from django.utils.translation import ngettext

NodeSizes = Callable[[], Mapping[str, int]]


def node_sizes() -> Mapping[str, int]:
    """Cards of a node by accelerator, for those that are sold by whole nodes; empty where any lot may be sold."""
    return cast("NodeSizes", import_string(settings.NODE_SIZES))()


def refusal(*, accelerator: str, cards: int, sizes: Mapping[str, int] | None = None) -> str:
    """Why a lot of so many cards cannot be on sale; empty where it can. `sizes`: what was asked a moment ago."""
    size = (node_sizes() if sizes is None else sizes).get(accelerator, cards)
    if size == cards:
        return ""
    return ngettext(
        "This cluster is sold by whole nodes, and a node of this accelerator has %(cards)s card: "
        "a lot of another size cannot be sold on it.",
        "This cluster is sold by whole nodes, and a node of this accelerator has %(cards)s cards: "
        "a lot of another size cannot be sold on it.",
        size,
    ) % {"cards": size}


def of_other_sizes() -> Q:
    """Lots that are on sale by their row and by no node; none where any lot may be sold."""
    found = Q(pk__in=[])
    for slug, size in node_sizes().items():
        found |= Q(lot__accelerator__slug=slug) & ~Q(lot__cards=size)
    return found
