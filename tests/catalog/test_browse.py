"""The catalogue as lists: what is shown, what is on sale, in how many queries."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from catalog.models import Accelerator, Lot, Option
from catalog.offers import LotSpecRow
from catalog.selectors import accelerator_by_slug, catalogue, current_price_version, lot_specs, lots_on_sale
from catalog.services.publish import publish_prices
from catalog.services.seed import Seeded
from core.errors import Invalid, NotFound
from planner.lots import LotSpec
from tests.factories.catalog import LotFactory, TermFactory

pytestmark = pytest.mark.django_db


def test_catalogue_shows_all_small_memory_first(
    seeded: Seeded, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        entries = catalogue()
    assert len(entries) == 17
    sizes = [entry.accelerator.memory_gb for entry in entries]
    assert sizes == sorted(sizes, key=lambda size: size or 0)


def test_cheapest_lot_by_term(seeded: Seeded) -> None:
    by_slug = {entry.accelerator.slug: entry for entry in catalogue()}
    b200, l40s = by_slug["b200-180"], by_slug["l40s-48"]
    assert {days: str(lot.amount) for days, lot in b200.cheapest.items()} == {
        3: "934.56",
        7: "2028.00",
        30: "7476.48",
    }
    assert (b200.lot_cards, b200.cheapest[7].lot_code) == ((2,), "b200-180x2")
    assert (l40s.lot_cards, l40s.cheapest[7].cards, str(l40s.cheapest[7].amount)) == ((1, 2, 4), 1, "170.30")


def test_without_a_price_it_is_shown_and_not_on_sale(seeded: Seeded) -> None:
    entry = next(entry for entry in catalogue() if entry.accelerator.slug == "mi355x-288")
    assert not entry.on_sale
    assert (entry.cheapest, entry.card_hour_amount, entry.currency) == ({}, None, None)
    assert "mi355x-288x8" not in {lot.code for lot in lots_on_sale()}
    assert "mi355x-288x8" not in {lot.code for lot in lot_specs()}


def test_before_the_first_table_all_is_shown_and_nothing_sold() -> None:
    TermFactory.create(days=3)
    LotFactory.create()
    assert current_price_version() is None
    assert [entry.on_sale for entry in catalogue()] == [False]
    assert lots_on_sale() == ()


def test_withdrawn_lot_leaves_every_list_at_once(seeded: Seeded) -> None:
    Lot.objects.filter(code="l40s-48x1").update(on_sale=False)
    entry = next(entry for entry in catalogue() if entry.accelerator.slug == "l40s-48")
    assert (entry.lot_cards, entry.cheapest[3].lot_code) == ((2, 4), "l40s-48x2")
    assert "l40s-48x1" not in {lot.code for lot in lots_on_sale()}
    assert "l40s-48x1" not in {lot.code for lot in lot_specs()}


def test_lists_follow_the_newest_table(seeded: Seeded) -> None:
    Accelerator.objects.filter(slug="b200-180").update(card_hour_amount=Decimal("7.00"))
    before = {lot.code: lot for lot in lots_on_sale()}["b200-180x2"]
    publish_prices()
    after = {lot.code: lot for lot in lots_on_sale()}["b200-180x2"]
    assert (str(before.prices[3]), before.price_version) == ("934.56", 1)
    assert (str(after.prices[3]), after.price_version) == ("1008.00", 2)


def test_filters(seeded: Seeded) -> None:
    assert {e.accelerator.slug for e in catalogue(min_memory_gb=192)} == {
        "mi300x-192",
        "mi325x-256",
        "mi355x-288",
        "b300-288",
    }
    assert {e.accelerator.stack for e in catalogue(stack="ROCm")} == {"ROCm"}
    assert [lot.code for lot in lots_on_sale(accelerator="b200-180")] == ["b200-180x2"]
    assert lots_on_sale(accelerator="no-such-card") == ()
    assert {lot.accelerator_slug for lot in lots_on_sale(min_memory_gb=250)} == {"mi325x-256", "b300-288"}


def test_unknown_memory_passes_no_memory_filter(seeded: Seeded) -> None:
    Accelerator.objects.filter(slug="b200-180").update(memory_gb=None)
    assert "b200-180" in {e.accelerator.slug for e in catalogue()}
    assert "b200-180" not in {e.accelerator.slug for e in catalogue(min_memory_gb=0)}


@pytest.mark.parametrize("size", [2**31, 2**63, 10**30])
def test_memory_beyond_the_column_finds_nothing(seeded: Seeded, size: int) -> None:
    assert catalogue(min_memory_gb=size) == ()
    assert lots_on_sale(min_memory_gb=size) == ()


@pytest.mark.parametrize("size", [-1, -(10**30)])
def test_memory_below_zero_finds_all(seeded: Seeded, size: int) -> None:
    assert len(catalogue(min_memory_gb=size)) == 17


@pytest.mark.parametrize(
    "slug", ["", "b200-18", "b200-180\x00", "\ud800", "B200-180", "../etc", "a" * 10_000]
)
def test_no_such_accelerator_is_not_found(seeded: Seeded, slug: str) -> None:
    with pytest.raises(NotFound):
        accelerator_by_slug(slug=slug)


def test_accelerator_without_price_still_has_its_page(seeded: Seeded) -> None:
    assert accelerator_by_slug(slug="mi355x-288").name == "AMD Instinct MI355X"


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: lots_on_sale(accelerator="b200\x00"), "accelerator"),
        (lambda: lots_on_sale(accelerator="\udfff"), "accelerator"),
        (lambda: catalogue(stack="CUDA\x00"), "stack"),
        (lambda: catalogue(stack="OpenCL"), "stack"),
    ],
)
def test_broken_filter_is_refused_by_field(seeded: Seeded, call: Callable[[], object], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        call()
    assert refused.value.field == field


def test_lots_on_sale_say_what_can_be_had_with_them(
    seeded: Seeded, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(4):
        lots = {lot.code: lot for lot in lots_on_sale()}
    assert len(lots) == 41
    b200, rtx = lots["b200-180x2"], lots["rtx-4090-24x1"]
    assert (b200.cards, b200.vcpu, b200.specs_are_demo, b200.currency) == (2, 56, True, "USD")
    assert b200.images == ("base-cu128", "base-cu129", "pt-cu128", "pt-cu130")
    assert b200.options == ("checkpoint-copy", "dataset-preload", "nvme-extra", "priority-support")
    assert rtx.options == ("checkpoint-copy", "dataset-preload", "priority-support")


def test_withdrawn_option_leaves_the_list(seeded: Seeded) -> None:
    Option.objects.filter(code="nvme-extra").update(on_sale=False)
    assert all("nvme-extra" not in lot.options for lot in lots_on_sale())


def test_lot_specs_satisfy_the_planner(
    seeded: Seeded, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        rows: tuple[LotSpecRow, ...] = lot_specs()
    specs: list[LotSpec] = list(rows)  # the type checker holds the row to the protocol
    wanted = [name for name in vars(LotSpec) if not name.startswith("_")]
    assert len(wanted) == 15
    by_code = {spec.code: spec for spec in specs}
    a100 = by_code["a100-sxm-80x1"]
    assert {name for name in wanted if not hasattr(a100, name)} == set()
    assert (a100.memory_gb, a100.usable_gib, a100.link_gb_s) == (80, 79.15, 600.0)
    assert by_code["rtx-a5000-24x1"].bandwidth_gb_s is None
    assert by_code["b200-180x2"].prices == {
        3: Decimal("934.56"),
        7: Decimal("2028.00"),
        30: Decimal("7476.48"),
    }
