"""The planner's codes as sentences of the site, in one place. `planner.texts` has the English of the terminal."""

from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from planner.notes import Note
from shop.pages.plan_figures import shown

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Words = dict[str, _StrPromise]

# Parameters whose noun stands beside them; a note has at most one.
_COUNTED: Final = frozenset({"cards", "layers", "seq_len"})

NOTES: "Words" = {
    # what binds
    "binds_start": _("The start of the backward pass decides: activations, the loss and the batch matter."),
    "binds_end": _("The end of the backward pass decides: gradients and activations stand together."),
    "binds_step": _("The optimizer step decides: a smaller batch changes nothing, a leaner recipe does."),
    "binds_decode": _("Weights and the cache of all conversations decide."),
    # advice
    "consumer_card_enough": _("A card with %(memory_gb)s carries this run; you may not need us."),
    "one_card_first": _("Start with one %(accelerator)s; add cards when the run is proven."),
    "load_peak": _(
        "Loading can need more than training: up to %(gib)s if weights are quantised on the card."
    ),
    "uneven_lengths": _("Sequences of different length waste memory; packing or bucketing would free it."),
    "nothing_fits": _("No lot on sale carries this run as it stands; the cheaper ways show what would."),
    # lots
    "memory_not_pooled": ngettext_lazy(
        "The memory of %(cards)s card is %(usable_gib)s; cards are not one pool.",
        "The %(cards)s cards are separate memories of %(usable_gib)s; they are not one pool.",
        "count",
    ),
    "separate_runs": ngettext_lazy(
        "Counted as %(cards)s independent run, one on each card.",
        "Counted as %(cards)s independent runs, one on each card.",
        "count",
    ),
    "sharding_communicates": ngettext_lazy(
        "The %(cards)s card exchanges weights at every layer; the speed does not multiply.",
        "The %(cards)s cards exchange weights at every layer; the speed does not multiply.",
        "count",
    ),
    "activations_not_sharded": _(
        "The activations of one micro-batch are not divided, so more cards would not help."
    ),
    "tensor_needs_link": ngettext_lazy(
        "%(cards)s card exchanges hidden states inside every layer: an NVLink-class link is needed.",
        "%(cards)s cards exchange hidden states inside every layer: an NVLink-class link is needed.",
        "count",
    ),
    "ddp_same_memory": ngettext_lazy(
        "DDP on %(cards)s card leaves the memory of each card unchanged.",
        "DDP on %(cards)s cards leaves the memory of each card unchanged.",
        "count",
    ),
    "confirm_topology": _("Confirm topology, process binding and the collective library before you scale."),
    "slow_link": _("The cards are linked by %(link)s, which slows sharded training."),
    "rocm_confirm": _(
        "%(accelerator)s runs ROCm: confirm that your framework and every extension has a ROCm build."
    ),
    "rocm_quantised_kernels": _("Kernels for quantised weights must be confirmed on ROCm."),
    "rocm_loss_kernel": _(
        "The fused loss kernel must be confirmed on ROCm; without it the loss needs more memory."
    ),
    "blackwell_build": _(
        "PyTorch, CUDA and compiled extensions must target %(target)s; older images do not run."
    ),
    "usable_pessimistic": _(
        "No published reading shows what a program gets of %(memory_gb)s; we take the smaller reading."
    ),
    "rate_unknown": _("No dense rate is published for %(accelerator)s, so its time is not estimated."),
    "utilisation_assumed": _(
        "No utilisation is published for %(accelerator)s; a wide range stands in for it."
    ),
    "size_unknown": _("The memory of this card was not found in any source."),
    "too_few_cards": ngettext_lazy(
        "This lot has %(cards)s card, fewer than the %(wanted)s asked for.",
        "This lot has %(cards)s cards, fewer than the %(wanted)s asked for.",
        "count",
    ),
    # rules of thumb
    "rule_recipe": _(
        "Your recipe keeps %(ours)s bytes per parameter at the optimizer step; the rule assumes %(rule)s."
    ),
    "rule_in_backward": _(
        "Your optimizer steps inside the backward pass, so gradients never stand together."
    ),
    "rule_adapters_only": _("Gradients and optimizer state exist for %(percent)s of the parameters only."),
    "rule_embeddings_stay": _("Embeddings and norms stay in 16 bit: %(gib)s that the table leaves out."),
    "rule_activations_left_out": _("The rules leave out activations: up to %(gib)s here."),
    "rule_not_sharded": ngettext_lazy(
        "Our figure is for %(cards)s card; the rules know one card.",
        "Our figure is for each of the %(cards)s cards; the rules know one card.",
        "count",
    ),
    "rule_is_for_training": _(
        "The rules are about training; serving keeps a cache instead, here %(cache_gib)s."
    ),
    # assumptions
    "from_published": _("An estimate from measurements that others published; we measured nothing."),
    "units": _("GiB are 2^30 bytes, GB are 10^9 bytes."),
    "context": _("A CUDA context takes %(low)s to %(high)s GiB beside the tensors."),
    "guessed_shape": ngettext_lazy(
        "Only the size is known: a shape with %(layers)s layer is assumed, and the range is wide.",
        "Only the size is known: a shape with %(layers)s layers is assumed, and the range is wide.",
        "count",
    ),
    "longest_batch": ngettext_lazy(
        "Every batch is the longest one: micro-batch %(micro_batch)s, sequences of %(seq_len)s token.",
        "Every batch is the longest one: micro-batch %(micro_batch)s, sequences of %(seq_len)s tokens.",
        "count",
    ),
    "packed": _("Sequences are packed or of equal length."),
    "not_packed": _("Sequences differ in length and are padded."),
    "cache_full": ngettext_lazy(
        "The caches of all conversations (%(conversations)s) are full at once, at %(seq_len)s token each.",
        "The caches of all conversations (%(conversations)s) are full at once, at %(seq_len)s tokens each.",
        "count",
    ),
    "adapter_dropout": _("Adapters have dropout, which keeps a copy of their input."),
    "adapter_no_dropout": _("Adapters have no dropout."),
    "accumulation": _("Gradients are summed over several micro-batches (%(steps)s) before a step."),
    "tensor_split": _(
        "Heads, MLP width and vocabulary are divided; norms and hidden states are whole on every card."
    ),
    "tensor_speed": _(
        "Speed is assumed: %(fast_percent)s of all cards’ rate by NVLink, %(slow_percent)s by PCIe."
    ),
    "usable_share": _(
        "%(percent)s of a term trains; the rest is loading, pilot, validation, checkpoints and export."
    ),
    "chance": _("%(percent)s of the runs are taken to end with a usable result."),
    "restart_hours": _("Each run is allowed %(hours)s for loading and one restore."),
}

SHAPES: "Words" = {
    "single": _("One card."),
    "independent": _("Each card runs a job of its own; the memories stay separate."),
    "ddp": _("DDP: every card holds the whole state, and only the batch is shared out."),
    "fsdp": _("FSDP: the state is divided over the cards, which exchange it at every step."),
    "zero1": _("ZeRO-1: the optimizer state is divided over the cards."),
    "zero2": _("ZeRO-2: gradients and optimizer state are divided over the cards."),
    "zero3": _("ZeRO-3: the whole state is divided over the cards, which exchange it at every step."),
    "tp": _(
        "Tensor parallelism: every matrix is divided over the cards, which exchange hidden states in every layer."
    ),
    "split": _("The layers are divided over the cards, which exchange activations at every token."),
    "none": _("One card."),
}

VERDICTS: "Words" = {
    "comfortable": _("Comfortable"),
    "pilot": _("Workable"),
    "tight": _("Tight"),
    "no": _("Does not fit"),
}
NOT_JUDGED: "Words" = {"size_unknown": _("Not known"), "too_few_cards": _("Too few cards")}

MOMENTS: "Words" = {
    "start": _("Start of the backward pass"),
    "end": _("End of the backward pass"),
    "step": _("Optimizer step"),
    "decode": _("Serving, caches full"),
}
MOMENT_NOTES: "Words" = {
    "start": _("The activations of all layers stand; the loss or the last layer is open."),
    "end": _("All gradients are there; one layer is open."),
    "step": _("No activations any more; weights, gradients and optimizer state meet."),
    "decode": _("All conversations have reached their longest sequence."),
}
COMPONENTS: "Words" = {
    "weights": _("Weights"),
    "gradients": _("Gradients"),
    "optimizer": _("Optimizer state"),
    "copies": _("Copies during the step"),
    "kept": _("Kept activations or cache"),
    "working": _("Loss or one open layer"),
    "buffers": _("Gathered weights and buffers"),
}

LEVERS: "Words" = {
    "checkpoint": _("Full activation checkpointing"),
    "fused_loss": _("A fused linear and cross-entropy kernel"),
    "flash": _("Flash attention"),
    "micro_batch": _("Micro-batch 1 with gradient accumulation"),
    "packing": _("Packed sequences"),
    "fused_step": _("A fused AdamW step"),
    "bf16_state": _("Weights and optimizer state in bf16"),
    "optimizer_8bit": _("8-bit Adam"),
    "optimizer_in_backward": _("8-bit Adam, stepping inside the backward pass"),
    "lora": _("LoRA instead of all parameters"),
    "qlora": _("QLoRA, 4-bit base weights"),
    "paged_cache": _("A server with a paged cache"),
    "cache_fp8": _("A cache in fp8"),
    "weights_4bit": _("4-bit weights"),
    "one_conversation": _("One conversation at a time"),
}
SPEEDS: "Words" = {
    "none": _("costs no speed"),
    "faster": _("is faster as well"),
    "slower_published": _("costs %(low)s to %(high)s of the speed"),
    "slower_small_batch": _("is slower, as small batches use a card badly"),
    "none_check_quality": _("costs no speed worth naming; check the quality"),
    "no_accumulation": _("rules out gradient accumulation"),
    "other_result": _("trains adapters, which is another result"),
    "other_result_slower": _(
        "trains adapters on rounded weights, which is another result, and is slower per token"
    ),
}
TABLE_ROWS: "Words" = {
    "full_fp16": _("Full, FP16"),
    "lora_fp16": _("LoRA, FP16"),
    "qlora_fp8": _("QLoRA, FP8"),
    "qlora_fp4": _("QLoRA, FP4"),
}
FINISH: "Words" = {
    "yes": _("Finishes"),
    "likely": _("Finishes, not if slow"),
    "no": _("Does not finish"),
    "unknown": _("Not estimated"),
}


def sentence(note: Note) -> str:
    """A note of a plan in the active language."""
    text = NOTES[note.code]
    if not note.params:
        return str(text)
    counts = [value for name, value in note.params.items() if name in _COUNTED]
    # Beside the figures as they are read: the number that chooses the plural.
    return str(text % {**shown(note.params), "count": counts[0] if counts else 0})
