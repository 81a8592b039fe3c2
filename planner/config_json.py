"""Architecture from a Hugging Face style config.json that anybody may have written: bounded before it is parsed."""

import json
import re
from typing import Final, NoReturn

from planner import checks
from planner.architecture import BOUNDS, Architecture
from planner.errors import PlanError

# Real files have 1 to 40 KB and a depth of 4; a vocabulary map inside makes some larger.
MAX_TEXT: Final = 1_000_000
MAX_DEPTH: Final = 32

FIELD: Final = "model.config"

# A string, closed or not, or a bracket. Possessive and never failing at a quote, so that no text is slow.
_TOKENS: Final = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)

_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "intermediate": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "vocab": ("vocab_size", "padded_vocab_size"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads", "multi_query_group_num"),
    "head_dim": ("head_dim", "kv_channels"),
    "experts": ("num_local_experts", "num_experts", "n_routed_experts"),
    "top_k": ("num_experts_per_tok", "moe_topk", "top_k_experts"),
    "expert_intermediate": ("moe_intermediate_size",),
    "shared_experts": ("n_shared_experts", "num_shared_experts"),
    "dense_layers": ("first_k_dense_replace",),
    "max_positions": ("max_position_embeddings", "n_positions"),
    "kv_lora_rank": ("kv_lora_rank",),
    "q_lora_rank": ("q_lora_rank",),
    "rope_dim": ("qk_rope_head_dim",),
    "value_dim": ("v_head_dim",),
}

# GPT style: LayerNorm and a plain MLP of two matrices. Everything else known is RMSNorm with a gated MLP.
_PLAIN: Final = frozenset(
    {
        "gpt2",
        "gpt_bigcode",
        "gpt_neox",
        "gptj",
        "opt",
        "bloom",
        "falcon",
        "mpt",
        "phi",
        "starcoder2",
        "codegen",
    }
)
_TIED: Final = frozenset({"gemma", "gemma2", "gemma3", "gemma3_text", "gpt2", "gpt_bigcode", "opt", "bloom"})


def architecture_from_text(text: object) -> Architecture:
    """Parse and check. Raises PlanError with field model.config or model.config.<key>."""
    if not isinstance(text, str):
        raise _refused("config_not_text", "Paste the text of a config.json.")
    if len(text) > MAX_TEXT:
        raise _refused("config_too_large", "A config.json has at most one million characters.")
    _check_depth(text)
    try:
        data = json.loads(text, parse_constant=_no_constant, parse_int=_short_int)
    except (ValueError, RecursionError) as error:
        if isinstance(error, PlanError):
            raise
        raise _refused("config_not_json", "This is not valid JSON.") from error
    return architecture_from_config(data)


def architecture_from_config(data: object) -> Architecture:
    """An already parsed config. Numbers are checked one by one; booleans are no numbers."""
    config = checks.mapping(data, field=FIELD)
    inner = config.get("text_config")
    if isinstance(inner, dict):
        config = {**config, **checks.mapping(inner, field=f"{FIELD}.text_config")}
    kind = config.get("model_type")
    kind = kind[:40] if isinstance(kind, str) else ""
    sizes = {name: _read(config, name) for name in _NAMES}
    for name in ("layers", "hidden", "heads", "vocab"):
        if sizes[name] is None:
            raise PlanError(
                code="config_missing",
                field=f"{FIELD}.{_NAMES[name][0]}",
                message="The config lacks this number. Only transformer language models can be planned.",
            )
    given = {name: value for name, value in sizes.items() if value is not None}
    return Architecture(name=_name(config, kind), **_completed(config, kind, given))  # type: ignore[arg-type]


def _completed(config: checks.Mapped, kind: str, given: dict[str, int]) -> dict[str, object]:
    """What a config leaves out has the meaning that the library gives to silence."""
    hidden, heads = given["hidden"], given["heads"]
    sizes: dict[str, object] = dict(given)
    sizes.setdefault("intermediate", 4 * hidden)
    if kind == "qwen":  # the first Qwen counts both halves of its gate
        sizes["intermediate"] = max(given.get("intermediate", 8 * hidden) // 2, 1)
    sizes.setdefault("kv_heads", 1 if config.get("multi_query") is True else heads)
    sizes["head_dim"] = _head_dim(config, given, max(hidden // heads, 1))
    sizes["mlp_mats"] = 2 if kind in _PLAIN else 3
    tied = config.get("tie_word_embeddings")
    sizes["tied"] = (
        kind in _TIED if tied is None else checks.truth(tied, field=f"{FIELD}.tie_word_embeddings")
    )
    if given.get("experts") and "top_k" not in given:
        sizes["top_k"] = min(2, given["experts"])
    if not given.get("experts"):
        for name in ("experts", "top_k", "expert_intermediate", "shared_experts", "dense_layers"):
            sizes[name] = 0
    return sizes


def _head_dim(config: checks.Mapped, given: dict[str, int], default: int) -> int:
    if given.get("kv_lora_rank"):
        low, high = BOUNDS["head_dim"]
        nope = config.get("qk_nope_head_dim", default)
        return checks.whole(nope, field=f"{FIELD}.qk_nope_head_dim", low=low, high=high)
    return given.get("head_dim", default)


def _read(config: checks.Mapped, name: str) -> int | None:
    low, high = BOUNDS[name]
    for key in _NAMES[name]:
        value = config.get(key)
        if value is not None:
            # Configs write 0 for "none" in optional fields; required ones are refused by their bound.
            return checks.whole(value, field=f"{FIELD}.{key}", low=low, high=high)
    return None


def _name(config: checks.Mapped, kind: str) -> str:
    name = config.get("_name_or_path")
    text = name if isinstance(name, str) and name else kind or "config.json"
    return "".join(letter for letter in text if letter.isprintable())[:80] or "config.json"


def _check_depth(text: str) -> None:
    """The parser recurses; a text of brackets must not reach its limit. Brackets in strings do not count."""
    depth = 0
    for token in _TOKENS.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _refused("config_too_deep", "This config is nested deeper than any real one.")
        elif first in "]}":
            depth -= 1


def _no_constant(name: str) -> NoReturn:
    raise _refused("config_not_finite", "NaN and Infinity are not numbers that a config can hold.")


def _short_int(digits: str) -> int:
    if len(digits) > checks.MAX_NUMBER_TEXT:
        raise _refused("config_number_too_long", "A number in this config is longer than any real one.")
    return int(digits)


def _refused(code: str, message: str) -> PlanError:
    return PlanError(code=code, field=FIELD, message=message)
