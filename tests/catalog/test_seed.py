"""The seed may be repeated: it takes new facts and leaves what staff changed."""

import io
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries

from catalog.data_files import CatalogData, SeedRow, load_catalog_data
from catalog.models import Accelerator, Image, Lot, LotPrice, Option, PriceVersion, Term
from catalog.services.publish import publish_prices
from catalog.services.seed import Seeded, seed_catalog

pytestmark = pytest.mark.django_db


def with_value(data: CatalogData, kind: str, code: str, **values: object) -> CatalogData:
    """The data files as if they said something else of one row."""

    def change(row: SeedRow) -> SeedRow:
        return replace(row, values={**row.values, **values}) if row.code == code else row

    rows: tuple[SeedRow, ...] = getattr(data, kind)
    changes: dict[str, Any] = {kind: tuple(change(row) for row in rows)}
    return replace(data, **changes)


@pytest.fixture
def data() -> CatalogData:
    return load_catalog_data(currency="USD")


def test_first_seed_loads_everything_and_publishes_table_one(seeded: Seeded) -> None:
    assert seeded.published.number == 1
    assert seeded.published.created
    counts = [m.objects.count() for m in (Accelerator, Lot, Term, Option, Image)]
    assert counts == [17, 42, 3, 4, 8]
    assert LotPrice.objects.count() == 41 * 3  # all but the lot of the accelerator without a price


@pytest.mark.parametrize(("days", "amount"), [(3, "934.56"), (7, "2028.00"), (30, "7476.48")])
def test_worked_example_lies_in_the_table(seeded: Seeded, days: int, amount: str) -> None:
    price = LotPrice.objects.get(lot__code="b200-180x2", term__days=days)
    assert str(price.amount) == amount


def test_zero_and_unknown_stay_apart(seeded: Seeded) -> None:
    a100 = Accelerator.objects.get(slug="a100-sxm-80")
    b300 = Accelerator.objects.get(slug="b300-288")
    a5000 = Accelerator.objects.get(slug="rtx-a5000-24")
    assert (a100.fp8_dense_tflops, b300.fp4_dense_tflops) == (0, None)
    assert (a5000.bandwidth_gb_s, a5000.memory_type, a5000.link) == (None, None, None)
    assert a100.usable_gib == Decimal("79.15")
    assert Accelerator.objects.get(slug="b200-180").cores == {"cuda": None, "tensor": None}
    unknown = Lot.objects.get(code="mi355x-288x8")
    assert (unknown.vcpu, unknown.uplink_gbit_s, unknown.specs_are_demo) == (None, None, False)


def test_second_seed_changes_nothing(seeded: Seeded) -> None:
    again = seed_catalog()
    assert again.changes == ()
    assert (again.published.number, again.published.created) == (1, False)
    assert PriceVersion.objects.count() == 1


def test_changed_figure_makes_the_next_table_and_leaves_the_first(seeded: Seeded, data: CatalogData) -> None:
    dearer = with_value(data, "accelerators", "b200-180", card_hour_amount=Decimal("7.00"))
    again = seed_catalog(data=dearer)
    assert [(c.kind, c.code, c.action, c.fields) for c in again.changes] == [
        ("accelerator", "b200-180", "changed", ("card_hour_amount",))
    ]
    assert (again.published.number, again.published.created) == (2, True)
    amounts = LotPrice.objects.filter(lot__code="b200-180x2", term__days=3).order_by("version__number")
    assert [str(price.amount) for price in amounts] == ["934.56", "1008.00"]


def test_changed_fact_alone_makes_no_table(seeded: Seeded, data: CatalogData) -> None:
    again = seed_catalog(data=with_value(data, "accelerators", "b300-288", board_power_w=1400))
    assert [(c.code, c.fields) for c in again.changes] == [("b300-288", ("board_power_w",))]
    assert not again.published.created
    assert Accelerator.objects.get(slug="b300-288").board_power_w == 1400


def test_what_staff_changed_stands(seeded: Seeded) -> None:
    Lot.objects.filter(code="b200-180x2").update(on_sale=False)
    Accelerator.objects.filter(slug="b200-180").update(card_hour_amount=Decimal("8.00"))
    extra = Option.objects.get(code="nvme-extra")
    extra.lots.set([Lot.objects.get(code="b200-180x2")])
    again = seed_catalog()
    assert again.changes == ()
    assert not Lot.objects.get(code="b200-180x2").on_sale
    assert Accelerator.objects.get(slug="b200-180").card_hour_amount == Decimal("8.00")
    assert [lot.code for lot in extra.lots.all()] == ["b200-180x2"]


def test_a_new_figure_in_the_file_wins_over_an_older_edit(seeded: Seeded, data: CatalogData) -> None:
    Accelerator.objects.filter(slug="b200-180").update(card_hour_amount=Decimal("8.00"), board_power_w=900)
    seed_catalog(data=with_value(data, "accelerators", "b200-180", card_hour_amount=Decimal("7.00")))
    b200 = Accelerator.objects.get(slug="b200-180")
    assert (b200.card_hour_amount, b200.board_power_w) == (Decimal("7.00"), 900)


def test_changed_links_of_an_option_are_followed(seeded: Seeded, data: CatalogData) -> None:
    fewer = tuple(
        replace(row, many={"lots": ("b200-180x2",)}) if row.many["lots"] else row for row in data.options
    )
    again = seed_catalog(data=replace(data, options=fewer))
    assert [(c.code, c.fields) for c in again.changes] == [("nvme-extra", ("lots",))]
    assert [lot.code for lot in Option.objects.get(code="nvme-extra").lots.all()] == ["b200-180x2"]


def test_what_the_files_no_longer_name_is_reported_and_kept(seeded: Seeded, data: CatalogData) -> None:
    fewer = replace(data, images=tuple(row for row in data.images if row.code != "pt-cu124"))
    assert [(c.code, c.action) for c in seed_catalog(data=fewer).changes] == [
        ("pt-cu124", "not in the files")
    ]
    assert Image.objects.filter(code="pt-cu124").exists()


def test_bad_data_changes_nothing(seeded: Seeded, data: CatalogData) -> None:
    bad = with_value(data, "options", "priority-support", unit_amount=Decimal(-1))
    bad = with_value(bad, "accelerators", "b200-180", board_power_w=1)
    with pytest.raises(ValidationError):
        seed_catalog(data=bad)
    assert Accelerator.objects.get(slug="b200-180").board_power_w == 1000


def test_repeated_seed_is_cheap(
    seeded: Seeded, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(20):
        seed_catalog()


def test_command_says_what_changed_and_then_that_nothing_did() -> None:
    first, second = io.StringIO(), io.StringIO()
    call_command("seed_catalog", stdout=first)
    call_command("seed_catalog", stdout=second)
    assert "lot b200-180x2: created\n" in first.getvalue()
    assert "Price table 1 is published: 123 for lots, 12 for options.\n" in first.getvalue()
    assert second.getvalue() == "Price table 1 stands.\nNothing changed.\n"


def test_withdrawn_price_leaves_the_next_table(seeded: Seeded) -> None:
    Accelerator.objects.filter(slug="b200-180").update(card_hour_amount=None)
    published = publish_prices(note="B200 is withdrawn")
    assert (published.number, published.created, published.lot_prices) == (2, True, 120)
    assert not LotPrice.objects.filter(version__number=2, lot__code="b200-180x2").exists()
