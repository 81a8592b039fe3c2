"""LoRA: which matrices get a low-rank pair, and how many parameters that trains."""

from typing import Final

from planner.architecture import Architecture
from planner.errors import PlanError

TARGETS: Final[dict[str, tuple[str, ...]]] = {
    "attn": ("q", "k", "v", "o"),
    "qkv": ("fused_qkv",),
    "qkv_litgpt": ("fused_qkv",),
    "qv": ("q", "v"),
    "mlp": ("gate", "up", "down"),
    "all": ("q", "k", "v", "o", "gate", "up", "down"),
    **{name: (name,) for name in ("q", "k", "v", "o", "gate", "up", "down")},
    **{f"{name}_proj": (name,) for name in ("q", "k", "v", "o", "gate", "up", "down")},
}
"""Words for targets: groups, single letters and the names of Hugging Face models; joined by commas."""

# A list of every matrix by name is under 100 characters.
MAX_TARGETS_TEXT: Final = 200


def check_targets(text: object) -> tuple[str, ...]:
    """The matrices that a list such as "attn", "q,v,o,mlp" names, each once. Raises PlanError."""
    words = text.split(",") if isinstance(text, str) and len(text) <= MAX_TARGETS_TEXT else [""]
    words = [word.strip() for word in words]
    if any(word not in TARGETS for word in words):
        raise PlanError(
            code="unknown_targets",
            field="lora_targets",
            message="Name the targets with these words, separated by commas: %(allowed)s.",
            params={"allowed": ", ".join(TARGETS)},
        )
    return tuple(dict.fromkeys(matrix for word in words for matrix in TARGETS[word]))


def shapes(arch: Architecture, targets: str) -> list[tuple[int, int, int]]:
    """(inputs, outputs, copies per layer) of each targeted matrix; each expert has its own copy."""
    h, ad, kd = arch.hidden, arch.attention_width, arch.kv_width
    experts = max(arch.experts + arch.shared_experts, 1)
    known = {
        "q": (h, ad, 1),
        "k": (h, kd, 1),
        "v": (h, kd, 1),
        "o": (ad, h, 1),
        "fused_qkv": (h, ad + 2 * kd, 1),
        "gate": (h, arch.expert_width, experts),
        "up": (h, arch.expert_width, experts),
        "down": (arch.expert_width, h, experts),
    }
    wanted = check_targets(targets)
    if not arch.gated:
        wanted = tuple(name for name in wanted if name != "gate")
    return [known[name] for name in wanted]


def adapter_params(arch: Architecture, rank: int, targets: str) -> int:
    """Trained parameters: rank x (inputs + outputs) of each targeted matrix, over all layers."""
    per_layer = sum((i + o) * copies for i, o, copies in shapes(arch, targets))
    return arch.layers * rank * per_layer


def adapter_input_width(arch: Architecture, targets: str) -> int:
    """Values per token that enter targeted matrices of one layer: each keeps a dropped-out copy."""
    active = max(arch.top_k + arch.shared_experts, 1) if arch.experts else 1
    return sum(i * (active if copies > 1 else 1) for i, _, copies in shapes(arch, targets))


def trains_down(targets: str) -> bool:
    """Whether the last matrix of the MLP is adapted, so that its input must be kept."""
    return "down" in check_targets(targets)
