"""Tensor parallelism: what divides and what does not, who may ask for it, and that nobody gets it unasked."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner import Plan, PlanError, plan, request_from_mapping
from planner.architecture import Architecture
from planner.budget import COLLECTIVE_GIB, budget
from planner.moments import WORKSPACE
from planner.presets import PRESETS, preset
from planner.run import Run
from planner.serving import kv_bytes_per_token
from planner.tensor import LINKED, UNLINKED, card_slice
from planner.throughput import LINKED as SHARDED_LINKED
from planner.throughput import fast_link
from tests.planner.lots import catalogue_lots
from tests.planner.test_properties import architectures, runs

LOTS = catalogue_lots()
LLAMA_8B = preset("llama-3-8b")
BY_CODE = {lot.code: lot for lot in LOTS}


def planned(**changes: object) -> Plan:
    return plan(request_from_mapping({"model": {"preset": "llama-3-8b"}, "tokens": "0.5B", **changes}), LOTS)


def typical_hours(found: Plan, code: str) -> float:
    hours = next(v.hours for v in found.lots if v.lot.code == code)
    assert hours is not None
    return hours.typical


@settings(max_examples=150, deadline=None)
@given(architectures(), runs(), st.integers(2, 8))
def test_a_card_of_several_never_needs_more_than_one_alone(arch: Architecture, run: Run, n: int) -> None:
    arch = replace(arch, heads=arch.heads * n, kv_heads=arch.kv_heads)
    alone = budget(arch, replace(run, sharding="none", n_cards=1))
    split = budget(arch, replace(run, sharding="tp", n_cards=n))
    assert split.tensors_gib <= alone.tensors_gib * (1 + 1e-9)
    for one, part in zip(alone.moments, split.moments, strict=True):
        assert part.total <= one.total * (1 + 1e-9)
    if run.packing:
        assert split.required_gib <= alone.required_gib * (1 + 1e-9) + COLLECTIVE_GIB[1]


@pytest.mark.parametrize("name", [name for name in PRESETS if preset(name).heads % 2 == 0])
def test_two_cards_hold_about_half_of_the_weights_each(name: str) -> None:
    arch = preset(name)
    run = Run(sharding="tp", n_cards=2)
    whole, half = (budget(arch, one).moments[-1] for one in (Run(), run))
    assert whole.code == half.code == "step"
    for part in ("weights", "gradients", "optimizer", "copies"):
        # What is not divided (norms, router, MLA's compressing matrices, a single key head) is a few per cent.
        assert 0.5 <= getattr(half, part) / getattr(whole, part) < 0.54, part


def test_llama_8b_divides_to_the_parameter() -> None:
    """Norms (2 L + 1) h are whole; everything else of Llama-3-8B is divisible by eight."""
    norms = 65 * 4096
    part = card_slice(LLAMA_8B, 8)
    assert part.params == pytest.approx((LLAMA_8B.params - norms) / 8 + norms, abs=1)
    assert (part.heads, part.kv_heads, part.vocab, part.hidden) == (4, 1, 16_032, 4096)


@pytest.mark.parametrize(
    ("kv_heads", "n", "left"), [(8, 8, 1), (8, 2, 4), (2, 8, 1), (1, 4, 1), (6, 4, 3), (32, 8, 4)]
)
def test_key_heads_divide_as_far_as_they_can(kv_heads: int, n: int, left: int) -> None:
    assert card_slice(replace(LLAMA_8B, kv_heads=kv_heads), n).kv_heads == left


def test_inside_of_a_layer_and_logits_divide_but_hidden_states_do_not() -> None:
    one, two = (
        Run(ckpt="full", loss_kernel="fused_ce"),
        Run(ckpt="full", loss_kernel="fused_ce", sharding="tp", n_cards=2),
    )
    alone, split = budget(LLAMA_8B, one).moments[0], budget(LLAMA_8B, two).moments[0]
    assert split.kept == alone.kept > 0
    assert alone.working / 2 < split.working < alone.working
    logits = [budget(LLAMA_8B, replace(run, loss_kernel="hf")).moments[0].working for run in (one, two)]
    hidden = 8 * LLAMA_8B.hidden * one.tokens
    assert logits[1] - hidden == pytest.approx((logits[0] - hidden) / 2)


def test_serving_divides_weights_and_cache_but_not_a_compressed_cache() -> None:
    run = Run(method="infer", engine="vllm", micro_batch=16)
    alone, split = (budget(LLAMA_8B, r).moments[0] for r in (run, replace(run, sharding="tp", n_cards=4)))
    assert split.kept == pytest.approx(alone.kept / 4)
    assert split.weights - WORKSPACE == pytest.approx((alone.weights - WORKSPACE) / 4, rel=0.001)
    mla = preset("deepseek-v3")
    assert kv_bytes_per_token(card_slice(mla, 8), "bf16") == kv_bytes_per_token(mla, "bf16")
    found = planned(method="infer", tokens=None, sharding="tp", n_cards=2)
    assert {v.fit.shape for v in found.lots if v.fit is not None} == {"tp"}


@pytest.mark.parametrize("n_cards", [3, 5, 6, 7])
def test_heads_that_do_not_divide_are_refused_with_the_field(n_cards: int) -> None:
    with pytest.raises(PlanError) as refused:
        planned(sharding="tp", n_cards=n_cards)
    assert (refused.value.code, refused.value.field) == ("heads_not_divisible", "n_cards")
    assert refused.value.params == {"heads": 32, "cards": n_cards}


@pytest.mark.parametrize("n_cards", [None, 1, 9, 16])
def test_it_takes_two_to_eight_cards(n_cards: int | None) -> None:
    with pytest.raises(PlanError) as refused:
        planned(sharding="tp", n_cards=n_cards)
    assert (refused.value.code, refused.value.field) == ("out_of_range", "n_cards")


def test_heads_of_a_guessed_shape_refuse_nothing() -> None:
    found = planned(model={"params": "8B"}, sharding="tp", n_cards=7)
    assert found.arch.heads % 7
    assert found.required_gib < planned(model={"params": "8B"}).required_gib


@pytest.mark.parametrize("method", ["full", "lora", "qlora", "infer"])
@pytest.mark.parametrize("size", ["1B", "70B", "400B"])
def test_it_is_never_chosen_unasked(method: str, size: str) -> None:
    found = planned(model={"params": size}, method=method)
    assert all(v.fit is None or v.fit.run.sharding != "tp" for v in found.lots)
    assert all(lever.run.sharding != "tp" for lever in found.levers)
    notes = {n.code for n in found.assumptions} | {n.code for v in found.lots for n in v.cautions}
    assert not notes & {"tensor_needs_link", "tensor_split", "tensor_speed"}


def test_its_speed_is_lower_and_said_to_be_assumed() -> None:
    split, sharded = planned(sharding="tp", n_cards=2), planned(sharding="fsdp", n_cards=2)
    linked = next(
        c for c, lot in BY_CODE.items() if lot.cards == 2 and fast_link(lot) and lot.bf16_dense_tflops
    )
    ratio = typical_hours(split, linked) / typical_hours(sharded, linked)
    assert ratio == pytest.approx(SHARDED_LINKED / LINKED)
    assert UNLINKED < LINKED < SHARDED_LINKED
    assert {"tensor_split", "tensor_speed"} <= {note.code for note in split.assumptions}
    for verdict in split.lots:
        if verdict.fit is not None:
            assert "tensor_needs_link" in {note.code for note in verdict.cautions}


def test_a_pilot_step_is_one_micro_batch_of_all_cards() -> None:
    """Two cards that share a micro-batch pass half the tokens a step that two cards with one each do."""
    lot = next(c for c, lot in BY_CODE.items() if lot.cards == 2 and fast_link(lot) and lot.bf16_dense_tflops)
    pilot = {"lot": lot, "step_seconds": 2}
    steps = 0.5e9 / 2048
    split = typical_hours(planned(sharding="tp", n_cards=2, pilot=pilot), lot)
    sharded = typical_hours(planned(sharding="fsdp", n_cards=2, pilot=pilot), lot)
    assert split == pytest.approx(steps * 2 / 3600)
    assert sharded == pytest.approx(split / 2)
