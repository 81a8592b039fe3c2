"""Which environment runs on which card: exact, with reasons, and no guess by family."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.data_files import load_catalog_data
from catalog.stack import check_image, driver_needed, driver_suffices, parse_version, require_runs
from core.errors import Refusal


@dataclass(frozen=True)
class Env:
    name: str = "PyTorch 2.9, CUDA 12.8"
    targets: list[str] = field(default_factory=lambda: ["sm_90", "sm_100"])
    host_archs: list[str] = field(default_factory=lambda: ["x86_64"])
    stack: str = "CUDA"
    stack_version: str = "12.8"
    driver_minimum: str | None = "570"


@dataclass(frozen=True)
class Card:
    name: str = "NVIDIA B200"
    target: str = "sm_100"
    host_arch: str = "x86_64"
    stack: str = "CUDA"
    stack_minimum: str | None = "12.8"
    driver_minimum: str | None = "570"


def codes(env: Env, card: Card, node_driver: str | None = None) -> list[str]:
    return [reason.code for reason in check_image(env, card, node_driver).reasons]


def test_what_fits_runs_without_a_word() -> None:
    verdict = check_image(Env(), Card(), "570.86.15")
    assert verdict.runs
    assert verdict.reasons == ()
    assert verdict.warnings == ()


def test_older_cuda_on_blackwell_is_refused_with_both_reasons() -> None:
    old = Env(
        name="PyTorch 2.5, CUDA 12.4", targets=["sm_80", "sm_90"], stack_version="12.4", driver_minimum="550"
    )
    verdict = check_image(old, Card())
    assert not verdict.runs
    assert [reason.text for reason in verdict.reasons] == [
        "It has no kernels for sm_100.",
        "This card needs CUDA 12.8 or later; it has 12.4.",
    ]


def test_same_family_is_no_target() -> None:
    assert codes(Env(targets=["sm_100"], stack_version="13.0"), Card(target="sm_103")) == ["target_missing"]
    assert codes(Env(targets=["sm_86"]), Card(target="sm_80", stack_minimum="11.0")) == ["target_missing"]


def test_other_stack_gives_one_reason_and_compares_no_versions() -> None:
    rocm = Env(targets=["gfx942"], stack="ROCm", stack_version="6.4", driver_minimum=None)
    assert codes(rocm, Card(), "560") == ["stack_differs"]


def test_host_architecture_must_be_listed() -> None:
    assert codes(Env(), Card(host_arch="aarch64")) == ["host_arch_missing"]
    assert check_image(Env(host_archs=["x86_64", "aarch64"]), Card(host_arch="aarch64")).runs


def test_unknown_minimum_warns_and_does_not_refuse() -> None:
    card = Card(target="gfx942", stack="ROCm", stack_minimum=None, driver_minimum=None)
    env = Env(targets=["gfx942"], stack="ROCm", stack_version="6.4", driver_minimum=None)
    verdict = check_image(env, card)
    assert verdict.runs
    assert [warning.code for warning in verdict.warnings] == ["stack_minimum_unknown"]


@pytest.mark.parametrize(
    ("version", "minimum", "runs"),
    [("12.10", "12.9", True), ("12.9", "12.10", False), ("13.0", "12.9", True), ("12.8", "12.8.0", True)],
)
def test_versions_are_numbers(version: str, minimum: str, runs: bool) -> None:
    assert check_image(Env(stack_version=version), Card(stack_minimum=minimum)).runs is runs


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("570.86.15", []),
        ("1000", []),
        ("569.99", ["driver_too_old"]),
        ("", ["driver_unreadable"]),
        ("570-open", ["driver_unreadable"]),
        ("٥٧٠", ["driver_unreadable"]),
    ],
)
def test_driver_of_the_node(driver: str, expected: list[str]) -> None:
    assert codes(Env(), Card(), driver) == expected


def test_the_stricter_of_two_drivers_counts() -> None:
    assert codes(Env(driver_minimum="580"), Card(driver_minimum="570"), "575") == ["driver_too_old"]
    assert codes(Env(driver_minimum="550"), Card(driver_minimum="570"), "560") == ["driver_too_old"]


def test_driver_needed_is_the_newer_of_both_or_nothing() -> None:
    assert driver_needed(Env(driver_minimum="570"), Card(driver_minimum="570.124")) == "570.124"
    assert driver_needed(Env(driver_minimum=None), Card(driver_minimum="550")) == "550"
    assert driver_needed(Env(driver_minimum=None), Card(driver_minimum=None)) == ""


@pytest.mark.parametrize(
    ("version", "minimum", "enough"),
    [
        ("570.86.15", "570", True),
        ("569", "570", False),
        ("", "", True),
        ("", "570", False),
        ("open", "570", False),
    ],
)
def test_driver_suffices(version: str, minimum: str, enough: bool) -> None:
    assert driver_suffices(version, minimum) is enough


def test_refusal_carries_code_field_and_every_reason() -> None:
    old = Env(name="PyTorch 2.5, CUDA 12.4", targets=["sm_90"], stack_version="12.4")
    with pytest.raises(Refusal) as refused:
        require_runs(old, Card())
    assert (refused.value.code, refused.value.status, refused.value.field) == (
        "image_incompatible",
        422,
        "image",
    )
    assert refused.value.text == (
        "PyTorch 2.5, CUDA 12.4 does not run on NVIDIA B200. "
        "It has no kernels for sm_100. This card needs CUDA 12.8 or later; it has 12.4."
    )


@given(
    st.lists(st.integers(0, 999), min_size=1, max_size=4),
    st.lists(st.integers(0, 999), min_size=1, max_size=4),
)
def test_version_order_is_that_of_the_numbers(left: list[int], right: list[int]) -> None:
    width = max(len(left), len(right))
    padded = [numbers + [0] * (width - len(numbers)) for numbers in (left, right)]
    parsed = [parse_version(".".join(map(str, numbers))) for numbers in (left, right)]
    assert (parsed[0] < parsed[1]) is (padded[0] < padded[1])
    assert (parsed[0] == parsed[1]) is (padded[0] == padded[1])


def demo_runs() -> dict[str, set[str]]:
    """Environment codes that run, by accelerator, in the demo's own data."""
    data = load_catalog_data(currency="USD")
    runs: dict[str, set[str]] = {}
    for row in data.accelerators:
        facts = {name: row.values[name] for name in Card.__dataclass_fields__}
        card = replace(Card(), **facts)
        envs = {
            i.code: Env(**{name: i.values[name] for name in Env.__dataclass_fields__}) for i in data.images
        }
        runs[row.code] = {code for code, env in envs.items() if check_image(env, card).runs}
    return runs


def test_the_demo_offers_each_card_an_environment_and_blackwell_no_old_one() -> None:
    runs = demo_runs()
    assert all(runs.values()), "an accelerator without an environment cannot be sold"
    for blackwell in ("b200-180", "b300-288", "gb200-186", "rtx-5090-32", "rtx-pro-6000-96"):
        assert "pt-cu124" not in runs[blackwell]
    assert runs["b200-180"] == {"pt-cu128", "pt-cu130", "base-cu128", "base-cu129"}
    assert runs["b300-288"] == {"pt-cu130", "base-cu129"}
    assert runs["gb200-186"] == {"pt-cu128-arm", "base-cu128", "base-cu129"}
    assert runs["mi300x-192"] == {"pt-rocm64", "pt-rocm70"}
    assert runs["mi355x-288"] == {"pt-rocm70"}
