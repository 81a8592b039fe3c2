"""Models that buyers name, with the sizes of their published config.json."""

from typing import Final

from planner.architecture import Architecture
from planner.errors import PlanError

# name: layers, hidden, intermediate, heads, kv heads, head dim, vocabulary, tied, published parameters
_LLAMA_LIKE: Final[dict[str, tuple[int, int, int, int, int, int, int, bool, int]]] = {
    "smollm2-135m": (30, 576, 1536, 9, 3, 64, 49152, True, 134_515_008),
    "smollm2-360m": (32, 960, 2560, 15, 5, 64, 49152, True, 361_821_120),
    "smollm2-1.7b": (24, 2048, 8192, 32, 32, 64, 49152, True, 1_711_376_384),
    "tinyllama-1.1b": (22, 2048, 5632, 32, 4, 64, 32000, False, 1_100_048_384),
    "llama-2-7b": (32, 4096, 11008, 32, 32, 128, 32000, False, 6_738_415_616),
    "llama-2-13b": (40, 5120, 13824, 40, 40, 128, 32000, False, 13_015_864_320),
    "llama-2-70b": (80, 8192, 28672, 64, 8, 128, 32000, False, 68_976_648_192),
    "llama-3-8b": (32, 4096, 14336, 32, 8, 128, 128256, False, 8_030_261_248),
    "llama-3-70b": (80, 8192, 28672, 64, 8, 128, 128256, False, 70_553_706_496),
    "llama-3.1-405b": (126, 16384, 53248, 128, 8, 128, 128256, False, 405_853_388_800),
    "llama-3.2-1b": (16, 2048, 8192, 32, 8, 64, 128256, True, 1_235_814_400),
    "llama-3.2-3b": (28, 3072, 8192, 24, 8, 128, 128256, True, 3_212_749_824),
    "mistral-7b": (32, 4096, 14336, 32, 8, 128, 32000, False, 7_241_732_096),
    "yi-6b": (32, 4096, 11008, 32, 4, 128, 64000, False, 6_061_035_520),
    "yi-34b": (60, 7168, 20480, 56, 8, 128, 64000, False, 34_388_917_248),
    "qwen-7b": (32, 4096, 11008, 32, 32, 128, 151936, False, 7_721_324_544),
    "qwen-14b": (40, 5120, 13696, 40, 40, 128, 152064, False, 14_167_290_880),
    "qwen2.5-0.5b": (24, 896, 4864, 14, 2, 64, 151936, True, 494_032_768),
    "qwen2.5-1.5b": (28, 1536, 8960, 12, 2, 128, 151936, True, 1_543_714_304),
    "qwen2.5-7b": (28, 3584, 18944, 28, 4, 128, 152064, False, 7_615_616_512),
    "qwen2.5-14b": (48, 5120, 13824, 40, 8, 128, 152064, False, 14_770_033_664),
    "qwen2.5-32b": (64, 5120, 27648, 40, 8, 128, 152064, False, 32_763_876_352),
    "qwen2.5-72b": (80, 8192, 29568, 64, 8, 128, 152064, False, 72_706_203_648),
    "qwen3-8b": (36, 4096, 12288, 32, 8, 128, 151936, False, 8_190_735_360),
    "gemma-2-2b": (26, 2304, 9216, 8, 4, 256, 256000, True, 2_614_341_888),
    "gemma-2-9b": (42, 3584, 14336, 16, 8, 256, 256000, True, 9_241_705_984),
    "phi-3-mini": (32, 3072, 8192, 32, 32, 96, 32064, False, 3_821_079_552),
}

_OTHERS: Final[dict[str, Architecture]] = {
    "mixtral-8x7b": Architecture(
        name="mixtral-8x7b",
        layers=32,
        hidden=4096,
        intermediate=14336,
        heads=32,
        kv_heads=8,
        head_dim=128,
        vocab=32000,
        experts=8,
        top_k=2,
        stated_params=46_702_792_704,
    ),
    "deepseek-v2-lite": Architecture(
        name="deepseek-v2-lite",
        layers=27,
        hidden=2048,
        intermediate=10944,
        heads=16,
        kv_heads=16,
        head_dim=128,
        vocab=102_400,
        experts=64,
        top_k=6,
        expert_intermediate=1408,
        shared_experts=2,
        dense_layers=1,
        kv_lora_rank=512,
        rope_dim=64,
        value_dim=128,
    ),
    "deepseek-v3": Architecture(
        name="deepseek-v3",
        layers=61,
        hidden=7168,
        intermediate=18432,
        heads=128,
        kv_heads=128,
        head_dim=128,
        vocab=129_280,
        experts=256,
        top_k=8,
        expert_intermediate=2048,
        shared_experts=1,
        dense_layers=3,
        kv_lora_rank=512,
        q_lora_rank=1536,
        rope_dim=64,
        value_dim=128,
    ),
}

PRESETS: Final[tuple[str, ...]] = (*_LLAMA_LIKE, *_OTHERS)


def preset(name: object) -> Architecture:
    """The architecture of a known model. Raises PlanError(unknown_preset)."""
    key = name.strip().lower()[:80] if isinstance(name, str) else ""
    if key in _OTHERS:
        return _OTHERS[key]
    if key not in _LLAMA_LIKE:
        raise PlanError(
            code="unknown_preset",
            field="model.preset",
            message="This model is not in our list. Paste its config.json or give its size.",
        )
    layers, hidden, intermediate, heads, kv_heads, head_dim, vocab, tied, params = _LLAMA_LIKE[key]
    return Architecture(
        name=key,
        layers=layers,
        hidden=hidden,
        intermediate=intermediate,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        vocab=vocab,
        tied=tied,
        stated_params=params,
    )
