"""Tensor parallelism: what one card holds of a model whose matrices are divided over several cards.

Source of what is split and what is replicated: Shoeybi et al. 2019, Megatron-LM. Attention is split by heads, the
MLP by its width, embeddings and output head by vocabulary; norms, layer inputs and residuals are whole on every card
(no sequence parallelism).
"""

from dataclasses import replace
from math import ceil, gcd
from typing import Final

from planner import checks
from planner.architecture import Architecture
from planner.errors import PlanError

CARDS: Final = (2, 8)
"""Cards of one node. The cards exchange hidden states in every layer, which a link between nodes is too slow for."""

LINKED: Final = 0.75
UNLINKED: Final = 0.40
"""Share of n cards' rate that n cards reach with an NVLink-class link between them, and over PCIe. Both are
assumptions; lower than those of planner.throughput because nothing hides two exchanges per layer and direction."""


def check_cards(n_cards: int) -> None:
    """2 to 8 cards. Raises PlanError(field n_cards)."""
    checks.whole(n_cards, field="n_cards", low=CARDS[0], high=CARDS[1])


def check_heads(arch: Architecture, n_cards: int) -> None:
    """Every card takes the same number of attention heads. Raises PlanError(field n_cards)."""
    if arch.heads % n_cards:
        raise PlanError(
            code="heads_not_divisible",
            field="n_cards",
            message="Tensor parallelism divides the %(heads)s attention heads evenly; %(cards)s cards cannot.",
            params={"heads": arch.heads, "cards": n_cards},
        )


def card_slice(arch: Architecture, n: int) -> Architecture:
    """The part of one of `n` cards, as an architecture: narrower inside, with the hidden size of the whole.

    Widths are rounded up, as Megatron-LM pads the vocabulary. Key heads divide as far as they can and are copied
    beyond that, so MLA's compressed vector, the router and the A side of a LoRA pair before a split stay whole.
    """
    narrow = replace(
        arch,
        heads=ceil(arch.heads / n),
        kv_heads=arch.kv_heads // gcd(arch.kv_heads, n),
        intermediate=ceil(arch.intermediate / n),
        expert_intermediate=ceil(arch.expert_intermediate / n),
        vocab=ceil(arch.vocab / n),
        stated_params=None,
    )
    if arch.stated_params is None:
        return narrow
    share = narrow.counted_params / arch.counted_params
    return replace(narrow, stated_params=ceil(arch.stated_params * share))
