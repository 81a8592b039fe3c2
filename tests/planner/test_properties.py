"""What must hold for every model and run: more work never needs less memory, more memory never fits worse."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner import run as choices
from planner.architecture import Architecture
from planner.budget import budget
from planner.run import Run
from planner.sizes import guessed, known
from planner.terms import cost_per_success, term_result, whole_runs
from planner.throughput import Hours
from planner.verdicts import ORDER, Budgets, fit, grade

QUICK = settings(max_examples=150, deadline=None)


@st.composite
def architectures(draw: st.DrawFn) -> Architecture:
    heads = draw(st.integers(1, 64))
    experts = draw(st.sampled_from([0, 0, 4, 64]))
    return Architecture(
        name="drawn",
        layers=draw(st.integers(1, 120)),
        hidden=draw(st.integers(64, 16384)),
        intermediate=draw(st.integers(64, 65536)),
        heads=heads,
        kv_heads=draw(st.integers(1, heads)),
        head_dim=draw(st.sampled_from([32, 64, 128, 256])),
        vocab=draw(st.integers(256, 256_000)),
        tied=draw(st.booleans()),
        mlp_mats=draw(st.sampled_from([2, 3])),
        experts=experts,
        top_k=draw(st.integers(1, 4)) if experts else 0,
        kv_lora_rank=draw(st.sampled_from([0, 0, 512])),
    )


@st.composite
def runs(draw: st.DrawFn) -> Run:
    method = draw(st.sampled_from(choices.METHODS))
    weights = draw(st.sampled_from(("nf4", "nf4dq", "int8", "gptq4"))) if method == "qlora" else "bf16"
    return Run(
        method=method,
        weights=weights,
        param_dtype=draw(st.sampled_from(choices.PARAM_DTYPES)),
        optimizer=draw(st.sampled_from(choices.OPTIMIZERS)),
        lora_rank=draw(st.integers(1, 256)),
        lora_targets=draw(st.sampled_from(["attn", "all", "qv", "mlp", "q,v,o,mlp"])),
        seq_len=draw(st.integers(1, 32_768)),
        micro_batch=draw(st.integers(1, 64)),
        accumulation=draw(st.sampled_from([1, 8])),
        ckpt=draw(st.sampled_from(choices.CKPT)),
        flash=draw(st.booleans()),
        loss_kernel=draw(st.sampled_from(choices.LOSS_KERNELS)),
        compiled=draw(st.booleans()),
        packing=draw(st.booleans()),
        upcast=draw(st.booleans()),
        n_cards=draw(st.sampled_from([1, 2, 8])),
        sharding=draw(st.sampled_from([s for s in choices.SHARDING if s != "tp"])),  # test_tensor.py
        framework=draw(st.sampled_from(choices.FRAMEWORKS)),
        engine=draw(st.sampled_from(choices.ENGINES)),
        kv_dtype=draw(st.sampled_from(choices.KV_DTYPES)),
    )


def required(arch: Architecture, run: Run) -> float:
    return budget(arch, run).required_gib


@QUICK
@given(architectures(), runs(), st.integers(2, 5))
def test_more_work_never_needs_less(arch: Architecture, run: Run, factor: int) -> None:
    base = required(arch, run)
    assert required(arch, replace(run, seq_len=run.seq_len * factor)) >= base
    assert required(arch, replace(run, micro_batch=run.micro_batch * factor)) >= base
    assert required(arch, replace(run, lora_rank=run.lora_rank * factor)) >= base
    for name in ("layers", "hidden", "intermediate", "vocab"):
        assert required(replace(arch, **{name: getattr(arch, name) * factor}), run) >= base * (1 - 1e-9), name


@QUICK
@given(st.integers(10**6, 10**12), st.integers(2, 100), runs())
def test_more_stated_parameters_never_need_less(params: int, factor: int, run: Run) -> None:
    arch = guessed(10**9).likely
    less, more = (replace(arch, stated_params=count) for count in (params, params * factor))
    assert required(more, run) >= required(less, run)


@QUICK
@given(architectures(), runs())
def test_figures_are_positive_ordered_and_add_up(arch: Architecture, run: Run) -> None:
    found = budget(arch, run)
    for moment in found.moments:
        parts = (
            moment.weights,
            moment.gradients,
            moment.optimizer,
            moment.copies,
            moment.kept,
            moment.working,
            moment.buffers,
        )
        assert all(part >= 0 for part in parts)
        assert moment.total == pytest.approx(sum(parts))
    assert found.tensors_gib == max(m.total for m in found.moments) / 2**30
    for span in (found.tensors, found.required, found.shown):
        assert 0 < span.low <= span.typical <= span.high
    assert found.tensors_gib < found.required_gib


@QUICK
@given(architectures(), runs(), st.floats(1, 300), st.floats(1.01, 4))
def test_a_larger_card_never_gets_a_worse_word(
    arch: Architecture, run: Run, usable: float, factor: float
) -> None:
    budgets = Budgets(known(arch))
    small = fit(budgets, run, usable, "single")
    large = fit(budgets, run, usable * factor, "single")
    assert large.rank <= small.rank


@given(st.floats(-5, 1), st.floats(0, 1), st.sampled_from([1, 2, 8]))
def test_the_word_follows_the_free_share(free: float, more: float, cards: int) -> None:
    assert ORDER.index(grade(free + more, cards)) <= ORDER.index(grade(free, cards))


@QUICK
@given(architectures(), runs())
def test_sharding_divides_state_but_not_activations(arch: Architecture, run: Run) -> None:
    run = replace(run, method="full", weights="bf16", sharding="fsdp")
    two, eight = (budget(arch, replace(run, n_cards=n)).moments for n in (2, 8))
    for few, many in zip(two, eight, strict=True):
        assert many.optimizer == pytest.approx(few.optimizer / 4)
        if few.code != "start":  # the start may be judged by another of its two halves
            assert many.activations == pytest.approx(few.activations)


@QUICK
@given(architectures(), runs())
def test_ddp_leaves_the_memory_of_a_card_as_it_is_or_more(arch: Architecture, run: Run) -> None:
    alone = replace(run, sharding="none", n_cards=1)
    copied = replace(run, sharding="ddp", n_cards=8)
    assert budget(arch, copied).tensors_gib >= budget(arch, alone).tensors_gib


@given(
    st.decimals(Decimal("0.01"), Decimal(10**7), places=2),
    st.integers(1, 10**6),
    st.fractions(Fraction(1, 1000), Fraction(1)),
)
def test_half_the_chance_is_twice_the_cost(price: Decimal, count: int, chance: Fraction) -> None:
    whole = cost_per_success(price, count, chance)
    half = cost_per_success(price, count, chance / 2)
    assert whole is not None
    assert half == 2 * whole
    assert whole * count * chance == Fraction(price)


@given(st.floats(1, 1000), st.floats(0.01, 2000), st.floats(0, 48))
def test_runs_are_whole_and_fit(usable: float, hours: float, restart: float) -> None:
    count = whole_runs(usable, hours, restart)
    assert count * (hours + restart) <= usable * (1 + 1e-9)
    assert (count + 1) * (hours + restart) >= usable * (1 - 1e-9)


@given(st.floats(1, 5000), st.integers(1, 8))
def test_no_whole_run_is_said_as_none_and_costs_nothing_per_result(hours: float, cards: int) -> None:
    result = term_result(
        days=3,
        price=Decimal(100),
        currency="USD",
        hours=Hours(hours * 0.8, hours, hours * 1.2),
        tokens=1e9,
        chance=Fraction(4, 5),
        separate=cards,
    )
    assert (result.runs == 0) == (result.per_success is None) == (result.finish == "no")
    assert result.idle_hours is not None
    assert 0 <= result.idle_hours <= result.usable_hours
    assert result.largest_tokens is not None
    # What is named as the largest run does fit, even if it is slow.
    slow = hours * 1.2 * result.largest_tokens / 1e9
    assert slow + 2.0 <= result.usable_hours * (1 + 1e-9)
