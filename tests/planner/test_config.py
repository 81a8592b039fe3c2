"""config.json from anywhere: read right where it is one, refused with the field where it is not."""

import json
import time
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import PlanError, plan, request_from_mapping
from planner.config_json import MAX_TEXT, architecture_from_text

LLAMA: dict[str, object] = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}


def config(**changes: object) -> str:
    return json.dumps({**LLAMA, **changes})


def test_llama() -> None:
    arch = architecture_from_text(config())
    assert (arch.params, arch.kv_width, arch.head_dim) == (8_030_261_248, 1024, 128)


def test_mixture_of_experts() -> None:
    arch = architecture_from_text(config(num_local_experts=8, num_experts_per_tok=2, vocab_size=32000))
    assert arch.params == 46_702_792_704
    assert 12e9 < arch.active_params < 13.5e9


def test_latent_attention_with_shared_and_dense_layers() -> None:
    arch = architecture_from_text(
        config(
            model_type="deepseek_v3",
            num_hidden_layers=61,
            hidden_size=7168,
            intermediate_size=18432,
            num_attention_heads=128,
            num_key_value_heads=128,
            vocab_size=129280,
            n_routed_experts=256,
            num_experts_per_tok=8,
            moe_intermediate_size=2048,
            n_shared_experts=1,
            first_k_dense_replace=3,
            kv_lora_rank=512,
            q_lora_rank=1536,
            qk_rope_head_dim=64,
            qk_nope_head_dim=128,
            v_head_dim=128,
        )
    )
    assert arch.params == pytest.approx(671e9, rel=0.002)  # the published count
    assert arch.active_params == pytest.approx(37e9, rel=0.03)
    # One compressed vector a token and layer, no factor of two.
    assert arch.cached_values_per_token == 61 * (512 + 64)


def test_plain_mlp_with_one_key_head() -> None:
    arch = architecture_from_text(
        json.dumps(
            {
                "model_type": "gpt_bigcode",
                "n_layer": 24,
                "n_embd": 2048,
                "n_head": 16,
                "n_inner": 8192,
                "vocab_size": 49280,
                "multi_query": True,
            }
        )
    )
    assert (arch.mlp_mats, arch.kv_heads, arch.tied) == (2, 1, True)
    assert arch.params == pytest.approx(1_124_886_528, rel=0.005)


def test_first_qwen_counts_both_halves_of_its_gate() -> None:
    assert architecture_from_text(config(model_type="qwen", intermediate_size=22016)).intermediate == 11008


def test_text_model_inside_a_larger_one() -> None:
    text = json.dumps({"model_type": "llava", "text_config": LLAMA})
    assert architecture_from_text(text).params == 8_030_261_248


def deep(count: int) -> str:
    return config(extra=0).replace('"extra": 0', '"extra": ' + "[" * count + "]" * count)


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        ("", "config_not_json", "model.config"),
        ("{", "config_not_json", "model.config"),
        ("[]", "not_object", "model.config"),
        ("null", "not_object", "model.config"),
        ("{}", "config_missing", "model.config.num_hidden_layers"),
        (config(num_hidden_layers=0), "out_of_range", "model.config.num_hidden_layers"),
        (config(num_hidden_layers=-1), "out_of_range", "model.config.num_hidden_layers"),
        (config(num_hidden_layers=10**30), "out_of_range", "model.config.num_hidden_layers"),
        (config(num_hidden_layers=True), "not_a_number", "model.config.num_hidden_layers"),
        (config(num_hidden_layers=[32]), "not_a_number", "model.config.num_hidden_layers"),
        (config(num_hidden_layers=32.5), "not_whole", "model.config.num_hidden_layers"),
        (config(hidden_size=float("nan")), "config_not_finite", "model.config"),
        (config(hidden_size=float("inf")), "config_not_finite", "model.config"),
        (config(hidden_size=1e308), "out_of_range", "model.config.hidden_size"),
        (config(hidden_size="x"), "not_a_number", "model.config.hidden_size"),
        (config(vocab_size=int("9" * 50)), "config_number_too_long", "model.config"),
        (config().replace("4096", "1e999"), "not_a_number", "model.config.hidden_size"),
        (config(num_local_experts=4, num_experts_per_tok=9), "experts_mismatch", "model.top_k"),
        (config(tie_word_embeddings="perhaps"), "not_boolean", "model.config.tie_word_embeddings"),
        (
            config(num_hidden_layers=2000, hidden_size=10**6, intermediate_size=10**7),
            "too_large",
            "model",
        ),
        (deep(20_000), "config_too_deep", "model.config"),
        (" " * (MAX_TEXT + 1), "config_too_large", "model.config"),
        (config(padding="x" * 50_000_000), "config_too_large", "model.config"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_absurd_configs_are_refused_with_the_field(text: str, code: str, field: str) -> None:
    with pytest.raises(PlanError) as refused:
        architecture_from_text(text)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_a_deep_but_harmless_string_is_no_nesting() -> None:
    assert architecture_from_text(config(chat_template="[" * 5000 + '\\"{{{{')).layers == 32


@pytest.mark.parametrize(
    "text",
    ['"' * 10**6, '"' + '\\"' * 499_999, '"' + '\\"' * 499_998 + "\\", "[]" * 500_000, "{" + '"a' * 499_000],
    ids=["quotes", "escaped", "cut", "brackets", "open"],
)
def test_no_text_of_the_allowed_size_is_slow(text: str) -> None:
    before = time.process_time()
    assert refusal(lambda: architecture_from_text(text)) is not None
    assert time.process_time() - before < 2  # a quadratic scan would take minutes


@pytest.mark.parametrize("value", [b"{}", 5, None, ["{}"]])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(PlanError) as refused:
        architecture_from_text(value)
    assert refused.value.field == "model.config"


def refusal(attempt: Callable[[], object]) -> PlanError | None:
    """What an attempt is refused with; every other exception goes on and fails the test."""
    try:
        attempt()
    except PlanError as refused:
        return refused
    return None


scalars: st.SearchStrategy[object] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@given(st.dictionaries(st.sampled_from([*LLAMA, "head_dim", "text_config", "num_experts"]), anything))
def test_any_object_is_planned_or_refused(changes: dict[str, object]) -> None:
    text = json.dumps({**LLAMA, **changes})
    refused = refusal(lambda: architecture_from_text(text))
    if refused is None:
        assert architecture_from_text(text).params >= 1
    else:
        assert refused.field.startswith("model")
        assert refused.text


FIELDS = [
    "method",
    "weights",
    "param_dtype",
    "optimizer",
    "lora_rank",
    "lora_targets",
    "seq_len",
    "micro_batch",
    "accumulation",
    "ckpt",
    "flash",
    "loss_kernel",
    "n_cards",
    "sharding",
    "tokens",
    "epochs",
    "chance",
    "lots",
    "pilot",
    "rocm_ready",
    "packing",
    "model",
]


@given(st.dictionaries(st.sampled_from(FIELDS), anything, max_size=4))
def test_any_request_is_planned_or_refused_with_a_field(changes: dict[str, object]) -> None:
    request = {"model": {"preset": "llama-3-8b"}, **changes}
    refused = refusal(lambda: request_from_mapping(request))
    if refused is None:
        assert plan(request_from_mapping(request), []).required_gib > 0
    else:
        assert refused.field
        assert refused.text


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": {}}, "model"),
        ({"model": {"preset": "llama-3-8b", "params": 1e9}}, "model"),
        ({"model": {"preset": "gpt-9"}}, "model.preset"),
        ({"model": {"name": "llama"}}, "model.name"),
        ({"model": {"params": 10**30}}, "model.params"),
        ({"model": {"params": float("nan")}}, "model.params"),
        ({"model": {"params": True}}, "model.params"),
        ({"seqlen": 5}, "seqlen"),
        ({"seq_len": 0}, "seq_len"),
        ({"seq_len": True}, "seq_len"),
        ({"micro_batch": "9" * 1000}, "micro_batch"),
        ({"method": "lora", "lora_targets": "x" * 10**6}, "lora_targets"),
        ({"method": "lora", "weights": "nf4"}, "weights"),
        ({"method": "qlora", "weights": "bf16"}, "weights"),
        ({"tokens": 0}, "tokens"),
        ({"tokens": Decimal("sNaN")}, "tokens"),
        ({"tokens": Decimal("1e999999")}, "tokens"),
        ({"tokens": 10**5000}, "tokens"),
        ({"tokens": "1e16"}, "tokens"),
        ({"chance": 0}, "chance"),
        ({"chance": 1.5}, "chance"),
        ({"epochs": -1}, "epochs"),
        ({"lots": "h200"}, "lots"),
        ({"lots": ["'; DROP TABLE"]}, "lots"),
        ({"lots": ["a"] * 501}, "lots"),
        ({"pilot": {"lot": "x", "step_seconds": 0}}, "pilot.step_seconds"),
        ({"pilot": {"step_seconds": 1}}, "pilot.lot"),
        ({"pilot": {"lot": "x", "speed": 1}}, "pilot.speed"),
    ],
)
def test_requests_are_refused_with_the_field(changes: dict[str, object], field: str) -> None:
    with pytest.raises(PlanError) as refused:
        request_from_mapping({"model": {"preset": "llama-3-8b"}, **changes})
    assert refused.value.field == field


@pytest.mark.parametrize("value", [None, [], "x", 5])
def test_a_request_that_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(PlanError):
        request_from_mapping(value)


def test_every_message_has_the_parameters_it_names() -> None:
    seen: list[PlanError] = []
    attempts: list[Callable[[], object]] = [
        lambda: request_from_mapping({"model": {"preset": "x"}}),
        lambda: request_from_mapping({"model": {"preset": "qwen-7b"}, "method": "x"}),
        lambda: request_from_mapping({"model": {"preset": "qwen-7b"}, "seq_len": 0}),
        lambda: request_from_mapping(
            {"model": {"preset": "qwen-7b"}, "method": "lora", "lora_targets": "%s"}
        ),
    ]
    for attempt in attempts:
        with pytest.raises(PlanError) as refused:
            attempt()
        seen.append(refused.value)
    assert all("%(" not in error.text for error in seen)
