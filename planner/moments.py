"""Memory of one card at the three moments that can be the peak, by component. Peak is a maximum, not a sum."""

from dataclasses import dataclass
from typing import Final

from planner import activations
from planner.architecture import Architecture
from planner.recipes import recipes
from planner.run import Run
from planner.tensor import card_slice
from planner.weights import layer_bytes, stored_bytes

WORKSPACE: Final = 17e6
"""Bytes of the two cuBLAS workspaces of a process. Seen on calib as 16 to 19 MB beside exact state."""

ZERO2_BUCKET: Final = 2e8
"""Reduce bucket in elements as published ZeRO-2 configurations set it (QwenLM/Qwen finetune/ds_config_zero2.json;
DeepSpeed's own default is 5e8); buffers take 4.5 times its 16-bit size. Source: DeepSpeed estimator."""

COMPONENTS: Final = ("weights", "gradients", "optimizer", "copies", "kept", "working", "buffers")


@dataclass(frozen=True, slots=True)
class Moment:
    """Bytes on one card. `kept` and `working` are activations; `copies` are temporary copies of the step."""

    code: str
    weights: float = 0.0
    gradients: float = 0.0
    optimizer: float = 0.0
    copies: float = 0.0
    kept: float = 0.0
    working: float = 0.0
    buffers: float = 0.0

    @property
    def activations(self) -> float:
        return self.kept + self.working

    def scaled(self, factor: float) -> "Moment":
        return Moment(self.code, *(factor * getattr(self, name) for name in COMPONENTS))

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.optimizer + self.copies + self.activations + self.buffers


@dataclass(frozen=True, slots=True)
class _State:
    """Bytes that do not depend on the batch, after sharding."""

    weights: float
    gradients: float
    optimizer: float
    copies: float
    head_gradient: float
    buffers: float
    root: float
    layer: float


def training_moments(arch: Architecture, run: Run) -> tuple[Moment, ...]:
    """Start of the backward pass, its end, the optimizer step."""
    if run.tensor_parallel:
        arch = card_slice(arch, run.n_cards)
    state = _state(arch, run)
    moments = [_start(arch, run, state), _end(arch, run, state)]
    if not run.in_backward:
        moments.append(
            Moment(
                "step",
                weights=state.weights,
                gradients=state.gradients,
                optimizer=state.optimizer,
                copies=state.copies,
                buffers=state.buffers,
            )
        )
    return tuple(moments)


def _start(arch: Architecture, run: Run, state: _State) -> Moment:
    """The loss is differentiated, or the last layer is: whichever needs more."""
    tokens = run.tokens
    # Gradients stand at the start only if earlier micro-batches or DeepSpeed's buffers have left them there.
    standing = run.trained and (run.accumulation > 1 or run.framework == "deepspeed") and not run.in_backward
    loss = Moment(
        "start",
        weights=state.weights,
        gradients=state.gradients if standing else 0.0,
        optimizer=state.optimizer,
        kept=activations.retained(arch, run) * tokens,
        working=activations.loss_working(arch, run) * tokens,
        buffers=state.buffers + state.root,
    )
    layer = Moment(
        "start",
        weights=state.weights,
        gradients=state.gradients if standing else state.head_gradient,
        optimizer=state.optimizer,
        kept=loss.kept,
        working=activations.layer_working(arch, run) * tokens,
        buffers=loss.buffers + state.layer,
    )
    return max(loss, layer, key=lambda moment: moment.total)


def _end(arch: Architecture, run: Run, state: _State) -> Moment:
    """All gradients are there; the first layer is differentiated."""
    if run.ckpt == "none":
        kept = activations.retained(arch, run) / arch.layers
        working = activations.layer_working(arch, run)
    else:
        kept = activations.stored(arch, run) / arch.layers
        working = activations.layer_working(arch, run)
    bound = activations.boundary(arch, run)
    if bound:
        kept = activations.retained(arch, run) + bound
    return Moment(
        "end",
        weights=state.weights,
        gradients=state.gradients + (state.head_gradient if run.gathers else 0.0),
        optimizer=state.optimizer,
        kept=kept * run.tokens,
        working=working * run.tokens,
        buffers=state.buffers + state.root + state.layer,
    )


def _state(arch: Architecture, run: Run) -> _State:
    trained = recipes(arch, run)
    n = run.n_cards if run.shards else 1
    split_weights = n if run.gathers else 1
    split_gradients = n if run.sharding != "zero1" else 1
    gradients = sum(r.total("gradients") for r in trained)
    if run.in_backward:
        gradients = _largest_gradient(arch, run)
    base = stored_bytes(arch, run.weights if run.method != "full" else run.param_dtype, upcast=run.upcast)
    root, layer = _gathered(arch, run)
    return _State(
        weights=(base + sum(r.total("extra_weights") for r in trained)) / split_weights + WORKSPACE,
        gradients=gradients / split_gradients,
        optimizer=sum(r.total("optimizer") for r in trained) / n,
        copies=sum(r.total("copies") for r in trained) / n,
        head_gradient=_head_gradient(arch, run),
        buffers=_buffers(arch, run, gradients),
        root=root,
        layer=layer,
    )


def _largest_gradient(arch: Architecture, run: Run) -> float:
    """With the optimizer inside the backward pass: one layer and one embedding matrix at a time."""
    wide = 4.0 if run.param_dtype == "fp32" else 2.0
    return (arch.layer_params + arch.vocab * arch.hidden) * wide if run.method == "full" else 0.0


def _head_gradient(arch: Architecture, run: Run) -> float:
    """The output head is differentiated first; its gradient is whole while the layers follow."""
    if run.method not in {"full", "lora_emb"}:
        return 0.0
    wide = 4.0 if run.param_dtype == "fp32" and not run.gathers else 2.0
    return wide * arch.vocab * arch.hidden


def _gathered(arch: Architecture, run: Run) -> tuple[float, float]:
    """Weights that a card holds whole although they are divided: FSDP's root unit and one layer."""
    if not run.gathers:
        return _autocast_copies(arch, run)
    layer = layer_bytes(arch, run.weights)
    if run.sharding == "zero3":
        # DeepSpeed gathers module by module and prefetches the next: 4 bytes per value of the largest layer.
        return 2.0 * arch.vocab * arch.hidden, 2 * layer
    return 2.0 * arch.embedding_params, layer


def _autocast_copies(arch: Architecture, run: Run) -> tuple[float, float]:
    """Autocast works on 16-bit copies of fp32 weights and keeps them for the backward pass."""
    if run.method != "full" or run.param_dtype != "fp32":
        return 0.0, 0.0
    layers = arch.linear_params if run.ckpt == "none" else arch.layer_params
    return 2.0 * arch.vocab * arch.hidden, 2.0 * layers


def _buffers(arch: Architecture, run: Run, gradients: float) -> float:
    """Buffers of communication that hold for the whole step."""
    if run.sharding == "ddp" and run.n_cards > 1:
        return gradients  # buckets are copies unless gradient_as_bucket_view is set
    if run.sharding in {"zero1", "zero2"} and run.trained:
        trained = sum(r.params for r in recipes(arch, run))
        return 2.0 * 4.5 * min(ZERO2_BUCKET, trained)
    return 0.0
