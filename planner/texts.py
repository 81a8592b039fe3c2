"""English sentences for every code that a plan carries. Faces with other languages translate by code."""

from collections.abc import Mapping
from typing import Final

from planner.notes import Note, Value

VERDICTS: Final[dict[str, str]] = {
    "comfortable": "Comfortable",
    "pilot": "Workable, a pilot must confirm",
    "tight": "Tight, not sold as a fit",
    "no": "Does not fit",
}

SHAPES: Final[dict[str, str]] = {
    "single": "One card.",
    "independent": "Each card runs a job of its own; the memories stay separate.",
    "ddp": "DDP: every card holds the whole state, and only the batch is shared out.",
    "fsdp": "FSDP: the state is divided over the cards, which exchange it at every step.",
    "zero1": "ZeRO-1: the optimizer state is divided over the cards.",
    "zero2": "ZeRO-2: gradients and optimizer state are divided over the cards.",
    "zero3": "ZeRO-3: the whole state is divided over the cards, which exchange it at every step.",
    "tp": "Tensor parallelism: every matrix is divided over the cards, which exchange hidden states in every layer.",
    "split": "The layers are divided over the cards, which exchange activations at every token.",
    "none": "One card.",
}

MOMENTS: Final[dict[str, str]] = {
    "start": "Start of the backward pass",
    "end": "End of the backward pass",
    "step": "Optimizer step",
    "decode": "Serving, caches full",
}

COMPONENTS: Final[dict[str, str]] = {
    "weights": "Weights",
    "gradients": "Gradients",
    "optimizer": "Optimizer state",
    "copies": "Copies during the step",
    "kept": "Kept activations or cache",
    "working": "Loss or one open layer",
    "buffers": "Gathered weights and buffers",
}

LEVERS: Final[dict[str, str]] = {
    "checkpoint": "Full activation checkpointing",
    "fused_loss": "A fused linear and cross-entropy kernel",
    "flash": "Flash attention",
    "micro_batch": "Micro-batch 1 with gradient accumulation",
    "packing": "Packed sequences",
    "fused_step": "A fused AdamW step",
    "bf16_state": "Weights and optimizer state in bf16",
    "optimizer_8bit": "8-bit Adam",
    "optimizer_in_backward": "8-bit Adam, stepping inside the backward pass",
    "lora": "LoRA instead of all parameters",
    "qlora": "QLoRA, 4-bit base weights",
    "paged_cache": "A server with a paged cache",
    "cache_fp8": "A cache in fp8",
    "weights_4bit": "4-bit weights",
    "one_conversation": "One conversation at a time",
}

SPEEDS: Final[dict[str, str]] = {
    "none": "costs no speed",
    "faster": "is faster as well",
    "slower_published": "costs %(low)s to %(high)s % of the speed",
    "slower_small_batch": "is slower, as small batches use a card badly",
    "none_check_quality": "costs no speed worth naming; check the quality",
    "no_accumulation": "rules out gradient accumulation",
    "other_result": "trains adapters, which is another result",
    "other_result_slower": "trains adapters on rounded weights, which is another result, and is slower per token",
}

TABLE_ROWS: Final[dict[str, str]] = {
    "full_fp16": "Full, FP16",
    "lora_fp16": "LoRA, FP16",
    "qlora_fp8": "QLoRA, FP8",
    "qlora_fp4": "QLoRA, FP4",
}

FINISH: Final[dict[str, str]] = {
    "yes": "finishes",
    "likely": "likely, not if slow",
    "no": "does not finish",
    "unknown": "not estimated",
}

TEXTS: Final[dict[str, str]] = {
    # what binds
    "binds_start": "The start of the backward pass decides: activations, the loss and the batch matter.",
    "binds_end": "The end of the backward pass decides: gradients and activations stand together.",
    "binds_step": "The optimizer step decides: a smaller batch changes nothing, a leaner recipe does.",
    "binds_decode": "Weights and the cache of all conversations decide.",
    # advice
    "consumer_card_enough": "A card with %(memory_gb)s GB carries this run; you may not need us.",
    "one_card_first": "One %(accelerator)s carries this run; start there and add cards when it is proven.",
    "load_peak": "Loading can need more than training: up to %(gib)s GiB if weights are quantised on the card.",
    "uneven_lengths": "Sequences of different length waste memory; packing or bucketing would free it.",
    "nothing_fits": "No lot on sale carries this run as it stands; the cheaper ways show what would.",
    # lots
    "memory_not_pooled": "The %(cards)s cards are separate memories of %(usable_gib)s GiB; they are not one pool.",
    "separate_runs": "Counted as %(cards)s independent runs, one on each card.",
    "sharding_communicates": "The %(cards)s cards exchange weights at every layer; the speed does not multiply.",
    "activations_not_sharded": "The activations of one micro-batch are not divided, so more cards would not help.",
    "tensor_needs_link": "%(cards)s cards exchange hidden states inside every layer: an NVLink-class link is needed.",
    "ddp_same_memory": "DDP on %(cards)s cards leaves the memory of each card unchanged.",
    "confirm_topology": "Confirm topology, process binding and the collective library before you scale.",
    "slow_link": "The cards are linked by %(link)s, which slows sharded training.",
    "rocm_confirm": "%(accelerator)s runs ROCm: confirm that your framework and every extension has a ROCm build.",
    "rocm_quantised_kernels": "Kernels for quantised weights must be confirmed on ROCm.",
    "rocm_loss_kernel": "The fused loss kernel must be confirmed on ROCm; without it the loss needs more memory.",
    "blackwell_build": "PyTorch, CUDA and compiled extensions must target %(target)s; older images do not run.",
    "usable_pessimistic": "No published reading shows what a program gets of %(memory_gb)s GB; we assume less.",
    "rate_unknown": "No dense rate is published for %(accelerator)s, so its time is not estimated.",
    "utilisation_assumed": "No utilisation is published for %(accelerator)s; a wide range is assumed.",
    "size_unknown": "The memory of this card is not known.",
    "too_few_cards": "This lot has %(cards)s cards, fewer than the %(wanted)s asked for.",
    # rules of thumb
    "rule_recipe": "Your recipe keeps %(ours)s bytes per parameter at the optimizer step; the rule assumes %(rule)s.",
    "rule_in_backward": "Your optimizer steps inside the backward pass, so gradients never stand together.",
    "rule_adapters_only": "Gradients and optimizer state exist for %(percent)s % of the parameters only.",
    "rule_embeddings_stay": "Embeddings and norms stay in 16 bit: %(gib)s GiB that the table leaves out.",
    "rule_activations_left_out": "The rules leave out activations: up to %(gib)s GiB here.",
    "rule_not_sharded": "Our figure is per card of %(cards)s; the rules know one card.",
    "rule_is_for_training": "The rules are about training; serving keeps a cache instead, here %(cache_gib)s GiB.",
    # assumptions
    "from_published": "An estimate from measurements that others published; we measured nothing.",
    "units": "GiB are 2^30 bytes, GB are 10^9 bytes.",
    "context": "A CUDA context takes %(low)s to %(high)s GiB beside the tensors.",
    "guessed_shape": "Only the size is known: a shape with %(layers)s layers is assumed, and the range is wide.",
    "longest_batch": "Every batch is the longest one: micro-batch %(micro_batch)s, %(seq_len)s tokens a sequence.",
    "packed": "Sequences are packed or of equal length.",
    "not_packed": "Sequences differ in length and are padded.",
    "cache_full": "The caches of all conversations (%(conversations)s) are full at once, at %(seq_len)s tokens each.",
    "adapter_dropout": "Adapters have dropout, which keeps a copy of their input.",
    "adapter_no_dropout": "Adapters have no dropout.",
    "accumulation": "Gradients are summed over several micro-batches (%(steps)s) before a step.",
    "tensor_split": "Heads, MLP width and vocabulary are divided; norms and hidden states are whole on every card.",
    "tensor_speed": "Speed is assumed: %(fast_percent)s % of all cards' rate by NVLink, %(slow_percent)s % by PCIe.",
    "usable_share": "%(percent)s % of a term trains; the rest is loading, pilot, validation, checkpoints and export.",
    "chance": "%(percent)s % of the runs are taken to end with a usable result.",
    "restart_hours": "Each run is allowed %(hours)s hours for loading and one restore.",
}


def sentence(note: Note) -> str:
    """The English sentence of a note, floats with one decimal."""
    return fill(TEXTS[note.code], note.params)


def fill(text: str, params: Mapping[str, Value]) -> str:
    """Named placeholders only; a lone per cent sign is a per cent sign."""
    for name, value in params.items():
        text = text.replace(f"%({name})s", f"{value:,.1f}" if isinstance(value, float) else str(value))
    return text
