"""How a model is trained or served: every choice that changes memory or time, validated once."""

from dataclasses import dataclass, fields
from typing import Final

from planner import checks, tensor
from planner.adapters import check_targets
from planner.errors import PlanError
from planner.weights import BYTES_PER_PARAMETER, QUANTISED

METHODS: Final = ("full", "lora", "qlora", "lora_emb", "infer")
WEIGHTS: Final = tuple(BYTES_PER_PARAMETER)
PARAM_DTYPES: Final = ("bf16", "fp32")
OPTIMIZERS: Final = (
    "adamw",
    "adamw_fused",
    "adamw_ds",
    "adamw8bit",
    "adamw_paged",
    "adamw8bit_paged",
    "adamw_inbwd",
    "adamw_paged_inbwd",
    "adamw8bit_inbwd",
    "adamw8bit_paged_inbwd",
    "adafactor",
    "sgd",
    "sgd_momentum",
)
CKPT: Final = ("full", "none", "selective")
LOSS_KERNELS: Final = ("hf", "fast_ce", "fused_ce", "chunked", "compiled", "compiled_chunked")
SHARDING: Final = ("none", "ddp", "fsdp", "zero1", "zero2", "zero3", "tp")
FRAMEWORKS: Final = ("hf_trainer", "deepspeed", "other")
ENGINES: Final = ("generate", "vllm")
KV_DTYPES: Final = ("bf16", "fp8")

_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "method": METHODS,
    "weights": WEIGHTS,
    "param_dtype": PARAM_DTYPES,
    "optimizer": OPTIMIZERS,
    "ckpt": CKPT,
    "loss_kernel": LOSS_KERNELS,
    "sharding": SHARDING,
    "framework": FRAMEWORKS,
    "engine": ENGINES,
    "kv_dtype": KV_DTYPES,
}
_WHOLE: Final[dict[str, tuple[int, int]]] = {
    "lora_rank": (1, 65_536),
    "seq_len": (1, 20_000_000),
    "micro_batch": (1, 100_000),
    "accumulation": (1, 1_000_000),
    "n_cards": (1, 1_024),
}
_TRUTHS: Final = ("flash", "compiled", "packing", "upcast", "lora_dropout")


@dataclass(frozen=True, slots=True)
class Run:
    """One micro-batch of one card (of all cards of a tensor-parallel run), and how its state is kept.

    `seq_len` is the longest sequence in tokens, `micro_batch` the sequences per card and step (when serving:
    conversations at once). `weights` is the format of the frozen or only weights, `param_dtype` that of trained
    ones. `optimizer_bytes` overrides the recipe's state per trained parameter. `upcast` is
    prepare_model_for_kbit_training; `packing` False means sequences of different length, padded.
    """

    method: str = "full"
    weights: str = "bf16"
    param_dtype: str = "bf16"
    optimizer: str = "adamw"
    optimizer_bytes: float | None = None
    lora_rank: int = 16
    lora_targets: str = "attn"
    seq_len: int = 2048
    micro_batch: int = 1
    accumulation: int = 1
    ckpt: str = "full"
    flash: bool = True
    loss_kernel: str = "hf"
    compiled: bool = False
    packing: bool = True
    upcast: bool = False
    lora_dropout: bool = True
    n_cards: int = 1
    sharding: str = "none"
    framework: str = "hf_trainer"
    engine: str = "generate"
    kv_dtype: str = "bf16"

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            checks.choice(getattr(self, name), field=name, allowed=allowed)
        for name, (low, high) in _WHOLE.items():
            checks.whole(getattr(self, name), field=name, low=low, high=high)
        for name in _TRUTHS:
            checks.truth(getattr(self, name), field=name)
        if self.optimizer_bytes is not None:
            checks.real(self.optimizer_bytes, field="optimizer_bytes", low=0, high=64)
        check_targets(self.lora_targets)
        self._check_combination()

    def _check_combination(self) -> None:
        if self.tensor_parallel:
            tensor.check_cards(self.n_cards)
        if self.method == "qlora" and self.weights not in QUANTISED:
            raise PlanError(
                code="qlora_needs_quantised",
                field="weights",
                message="QLoRA trains beside quantised weights. Choose one of: %(allowed)s.",
                params={"allowed": ", ".join(QUANTISED)},
            )
        if self.method in {"full", "lora", "lora_emb"} and self.weights in QUANTISED:
            raise PlanError(
                code="weights_not_trainable",
                field="weights",
                message="Quantised weights are trained with QLoRA only.",
            )

    @property
    def tokens(self) -> int:
        """Tokens of one micro-batch."""
        return self.seq_len * self.micro_batch

    @property
    def adapted(self) -> bool:
        """Whether small matrices beside frozen weights are trained."""
        return self.method in {"lora", "qlora", "lora_emb"}

    @property
    def trained(self) -> bool:
        return self.method != "infer"

    @property
    def in_backward(self) -> bool:
        """The optimizer steps inside the backward pass, so gradients never stand together."""
        return self.optimizer.endswith("_inbwd")

    @property
    def shards(self) -> bool:
        """Whether state is divided over cards that each work on a batch of their own."""
        return self.n_cards > 1 and self.sharding in {"fsdp", "zero1", "zero2", "zero3"}

    @property
    def tensor_parallel(self) -> bool:
        """Whether the cards work on one micro-batch together, each with a part of every matrix."""
        return self.sharding == "tp"

    @property
    def gathers(self) -> bool:
        """Whether weights themselves are divided, so that each layer must be gathered to work."""
        return self.n_cards > 1 and self.sharding in {"fsdp", "zero3"}

    @property
    def eager_norms(self) -> bool:
        """Norms and loss as the framework ships them, without a fused kernel set or a compiler."""
        return self.loss_kernel in {"hf", "chunked"} and not self.compiled


RUN_FIELDS: Final = tuple(field.name for field in fields(Run))


def run_from_mapping(data: checks.Mapped) -> Run:
    """A Run from a form, JSON or CSV row; absent and None fields keep their default. Raises PlanError."""
    given: dict[str, object] = {k: data[k] for k in RUN_FIELDS if data.get(k) is not None}
    for name, (low, high) in _WHOLE.items():
        if name in given:
            given[name] = checks.whole(given[name], field=name, low=low, high=high)
    for name in _TRUTHS:
        if name in given:
            given[name] = checks.truth(given[name], field=name)
    if "optimizer_bytes" in given:
        given["optimizer_bytes"] = checks.real(
            given["optimizer_bytes"], field="optimizer_bytes", low=0, high=64
        )
    if given.get("method") == "qlora":
        given.setdefault("weights", "nf4dq")
    return Run(**given)  # type: ignore[arg-type]  # each value was checked for its own field
