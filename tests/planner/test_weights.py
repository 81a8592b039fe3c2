"""The lower bound and the rule of thumb: exact by definition, refused out of range."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.architecture import MAX_PARAMETERS
from planner.weights import BYTES_PER_PARAMETER, rule_of_thumb_gb, weights_gib


@pytest.mark.parametrize(
    ("parameters", "dtype", "gib"),
    [
        (2**30, "fp32", 4.0),
        (2**30, "bf16", 2.0),
        (2**30, "int8", 1.0),
        (2**31, "nf4", 1.0),
        (7 * 10**9, "bf16", 13.0385),
    ],
)
def test_weights(parameters: int, dtype: str, gib: float) -> None:
    assert weights_gib(parameters, dtype) == pytest.approx(gib, abs=1e-4)


@pytest.mark.parametrize(("billions", "gb"), [(1, 16), (7, 112), (14, 224), (70, 1120)])
def test_rule_of_thumb(billions: int, gb: int) -> None:
    assert rule_of_thumb_gb(billions * 10**9) == gb


@pytest.mark.parametrize("parameters", [0, -1, MAX_PARAMETERS + 1])
def test_what_is_no_model_is_refused(parameters: int) -> None:
    with pytest.raises(ValueError, match="params: Enter a number from"):
        weights_gib(parameters, "bf16")
    with pytest.raises(ValueError, match="params: Enter a number from"):
        rule_of_thumb_gb(parameters)


def test_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="dtype must be one of fp32, bf16"):
        weights_gib(1, "bf17")


@given(st.integers(1, MAX_PARAMETERS), st.sampled_from(sorted(BYTES_PER_PARAMETER)))
def test_the_bound_lies_below_the_rule(parameters: int, dtype: str) -> None:
    assert 0 < weights_gib(parameters, dtype) * 2**30 < rule_of_thumb_gb(parameters) * 10**9
