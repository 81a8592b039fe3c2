"""State of training: bytes of gradients and optimizer per trained parameter, by recipe."""

from dataclasses import dataclass
from typing import Final

from planner.adapters import adapter_params
from planner.architecture import Architecture
from planner.run import Run

MIXED_STATE: Final = 12.0
"""DeepSpeed and Megatron mixed precision: fp32 master weights and two fp32 moments per parameter.
Sources: DeepSpeed estimator, EleutherAI cookbook (2+4+12), stas00 "anatomy" (18 with fp32 gradients)."""

EIGHT_BIT_STATE: Final = 2.0
"""bitsandbytes 8-bit Adam: two moments of one byte."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Bytes per trained parameter. `copies` lives only while the optimizer steps.

    `extra_weights` are trained weights that stand beside the base model (adapters, copies of embeddings).
    """

    params: int
    extra_weights: float
    gradients: float
    optimizer: float
    copies: float

    def total(self, name: str) -> float:
        """Bytes of one of the four, over all trained parameters."""
        return self.params * float(getattr(self, name))


def recipes(arch: Architecture, run: Run) -> tuple[Recipe, ...]:
    """What is trained: the model, or adapters and perhaps embeddings. Empty when serving."""
    if not run.trained:
        return ()
    if run.method == "full":
        return (_full(arch, run),)
    if run.method != "lora_emb":
        return (_adapters(arch, run),)
    # modules_to_save: the embeddings are copied and trained in 16 bit: 2 + 2 + 4 bytes and 2 in the step,
    # the "+10 B per embedding parameter" of the published Qwen tables.
    return (_adapters(arch, run), Recipe(arch.embedding_params, 2.0, 2.0, 4.0, 2.0))


def _full(arch: Architecture, run: Run) -> Recipe:
    """All parameters. fp32 or AMP: 4+4+8 and 4 in the step; bf16: 2+2+4 and 2; measured to 10.00 and 20.0 bytes
    per parameter by foundation-model-stack."""
    wide = 4.0 if run.param_dtype == "fp32" else 2.0
    if run.optimizer == "adamw_ds":
        # 18 bytes in all, DeepSpeed's own estimate: its gradients are kept in fp32.
        return Recipe(arch.params, 0.0, 4.0, _given(run, MIXED_STATE), 0.0)
    return Recipe(arch.params, 0.0, wide, _given(run, _state(run.optimizer, wide)), _copies(run, wide))


def _adapters(arch: Architecture, run: Run) -> Recipe:
    """PEFT makes adapters in fp32 even beside a 16-bit base (fitcheck, 14 runs): 4+4+8. Others keep bf16."""
    narrow = run.optimizer_bytes is not None and run.optimizer_bytes <= 4
    wide = 2.0 if narrow else 4.0
    state = MIXED_STATE if run.optimizer == "adamw_ds" else _state(run.optimizer, wide)
    params = adapter_params(arch, run.lora_rank, run.lora_targets)
    return Recipe(params, wide, wide, _given(run, state), _copies(run, wide))


def _given(run: Run, state: float) -> float:
    return state if run.optimizer_bytes is None else run.optimizer_bytes


def _state(optimizer: str, wide: float) -> float:
    """Adam keeps two moments in the width of the weights; SGD none or one; Adafactor rows and columns only."""
    if "8bit" in optimizer:
        return EIGHT_BIT_STATE
    return {"sgd": 0.0, "sgd_momentum": wide, "adafactor": 0.02}.get(optimizer, 2 * wide)


def _copies(run: Run, wide: float) -> float:
    """The default step of PyTorch works on lists of tensors and holds one temporary copy of them (foreach).
    DeepSpeed brings a fused step of its own."""
    if run.framework == "deepspeed":
        return 0.0
    return wide if run.optimizer in {"adamw", "adamw_paged", "sgd_momentum"} else 0.0
