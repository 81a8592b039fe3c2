"""The shape of a transformer and what follows from it: how many parameters sit where."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner import checks
from planner.errors import PlanError

# Bounds are ten times the largest published model or more: beyond them lies a typing error.
BOUNDS: Final[dict[str, tuple[int, int]]] = {
    "layers": (1, 2_000),
    "hidden": (8, 1_000_000),
    "intermediate": (1, 10_000_000),
    "heads": (1, 10_000),
    "kv_heads": (1, 10_000),
    "head_dim": (1, 100_000),
    "vocab": (1, 10_000_000),
    "mlp_mats": (2, 3),
    "experts": (0, 10_000),
    "top_k": (0, 10_000),
    "expert_intermediate": (0, 10_000_000),
    "shared_experts": (0, 1_000),
    "dense_layers": (0, 2_000),
    "max_positions": (0, 1_000_000_000),
    "kv_lora_rank": (0, 1_000_000),
    "q_lora_rank": (0, 1_000_000),
    "rope_dim": (0, 100_000),
    "value_dim": (0, 100_000),
}
MAX_PARAMETERS: Final = 10**15


@dataclass(frozen=True)
class Architecture:
    """Sizes as config.json gives them. `head_dim` is the model's own, not hidden / heads.

    Mixture of experts: `experts` per layer of which `top_k` work on a token; `expert_intermediate` (0: the same
    as `intermediate`), `shared_experts` that always work, `dense_layers` first layers without experts.
    Multi-head latent attention: `kv_lora_rank` > 0, with `q_lora_rank`, `rope_dim` and `value_dim`; `head_dim` is
    then the part of a query without position. `stated_params` is the count that somebody published; where it is
    None the parts are summed.
    """

    name: str
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    tied: bool = False
    mlp_mats: int = 3
    experts: int = 0
    top_k: int = 0
    expert_intermediate: int = 0
    shared_experts: int = 0
    dense_layers: int = 0
    max_positions: int = 0
    kv_lora_rank: int = 0
    q_lora_rank: int = 0
    rope_dim: int = 0
    value_dim: int = 0
    stated_params: int | None = None

    def __post_init__(self) -> None:
        for name, (low, high) in BOUNDS.items():
            checks.whole(getattr(self, name), field=f"model.{name}", low=low, high=high)
        if self.top_k > self.experts or (self.experts and not self.top_k):
            raise PlanError(
                code="experts_mismatch",
                field="model.top_k",
                message="A token must use at least one expert and no more than there are.",
            )
        if self.stated_params is not None:
            checks.whole(self.stated_params, field="model.params", low=1, high=MAX_PARAMETERS)
        if self.params > MAX_PARAMETERS:
            raise PlanError(
                code="too_large", field="model", message="These sizes make a model beyond 10^15 parameters."
            )

    @property
    def gated(self) -> bool:
        """RMSNorm and a gated MLP (Llama family); else LayerNorm and a plain MLP (GPT family)."""
        return self.mlp_mats == 3

    @cached_property
    def attention_width(self) -> int:
        """Width of all query heads together (ad)."""
        return self.heads * (self.head_dim + self.rope_dim if self.kv_lora_rank else self.head_dim)

    @cached_property
    def kv_width(self) -> int:
        """Width of keys, and of values, of one token while a layer works (kd)."""
        return self.attention_width if self.kv_lora_rank else self.kv_heads * self.head_dim

    @cached_property
    def cached_values_per_token(self) -> int:
        """Values that the KV cache keeps per token over all layers; MLA keeps one compressed vector."""
        if self.kv_lora_rank:
            return self.layers * (self.kv_lora_rank + self.rope_dim)
        return 2 * self.layers * self.kv_width

    @cached_property
    def attention_params(self) -> int:
        """Matrices of one layer's attention."""
        h = self.hidden
        if not self.kv_lora_rank:
            return 2 * h * self.attention_width + 2 * h * self.kv_width
        value = self.value_dim or self.head_dim
        rank = self.q_lora_rank
        query = h * rank + rank * self.attention_width if rank else h * self.attention_width
        shared = h * (self.kv_lora_rank + self.rope_dim)
        expanded = self.kv_lora_rank * self.heads * (self.head_dim + value)
        return query + shared + expanded + self.heads * value * h

    @cached_property
    def expert_width(self) -> int:
        return self.expert_intermediate or self.intermediate

    @cached_property
    def active_width(self) -> int:
        """MLP width that one token passes in the widest layer."""
        if not self.experts:
            return self.intermediate
        routed = (self.top_k + self.shared_experts) * self.expert_width
        return max(routed, self.intermediate) if self.dense_layers else routed

    @cached_property
    def _dense_mlp_params(self) -> int:
        return self.mlp_mats * self.hidden * self.intermediate

    @cached_property
    def _expert_params(self) -> int:
        return self.mlp_mats * self.hidden * self.expert_width

    @cached_property
    def layer_params(self) -> int:
        """Matrices of the largest layer: what sharded training gathers at once."""
        if not self.experts:
            return self.attention_params + self._dense_mlp_params
        experts = (self.experts + self.shared_experts) * self._expert_params + self.hidden * self.experts
        return self.attention_params + max(experts, self._dense_mlp_params if self.dense_layers else 0)

    @cached_property
    def linear_params(self) -> int:
        """Matrices of all layers: what quantisation stores in few bits (P_lin)."""
        if not self.experts:
            return self.layers * self.layer_params
        dense = min(self.dense_layers, self.layers)
        experts = (self.experts + self.shared_experts) * self._expert_params + self.hidden * self.experts
        mlp = dense * self._dense_mlp_params + (self.layers - dense) * experts
        return self.layers * self.attention_params + mlp

    @cached_property
    def embedding_params(self) -> int:
        """Input and output embeddings; one matrix when they are tied."""
        return self.vocab * self.hidden * (1 if self.tied else 2)

    @cached_property
    def params(self) -> int:
        """All parameters: the published count, or the sum of the parts with the norms."""
        return self.counted_params if self.stated_params is None else self.stated_params

    @cached_property
    def counted_params(self) -> int:
        """The sum of the parts: matrices, embeddings and norms."""
        norms = (2 * self.layers + 1) * self.hidden * (1 if self.gated else 2)
        return self.linear_params + self.embedding_params + norms

    @cached_property
    def kept_params(self) -> int:
        """Parameters that quantisation leaves alone: embeddings, output head, norms."""
        return max(self.params - self.linear_params, 0)

    @cached_property
    def active_params(self) -> int:
        """Parameters that work on one token: all but the experts that are not chosen."""
        if not self.experts:
            return self.params
        idle = (self.layers - min(self.dense_layers, self.layers)) * (self.experts - self.top_k)
        return max(self.params - idle * self._expert_params, 1)
