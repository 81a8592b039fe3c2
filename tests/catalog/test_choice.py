"""What a buyer may choose, and each refusal with its code and field."""

from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from catalog.models import Accelerator, Image, Lot, Option
from catalog.offers import LotOffer, OptionChoice
from catalog.pricing import price_quote
from catalog.selectors import chosen_options, current_shelf, images_for, lot_offer, lot_offers, option_offers
from catalog.services.publish import publish_prices
from catalog.services.seed import Seeded
from catalog.tax import bill_to, tax_for
from core.errors import Invalid, Refusal

pytestmark = pytest.mark.django_db

BIG = [2**31, 2**63, 10**30, -1, 0]


@pytest.fixture
def b200(seeded: Seeded) -> LotOffer:
    return lot_offer(lot="b200-180x2", days=7)


@pytest.fixture
def rtx(seeded: Seeded) -> LotOffer:
    return lot_offer(lot="rtx-4090-24x1", days=7)


def refusal(lot: LotOffer, *choices: tuple[str, int]) -> tuple[str, str | None, int]:
    with pytest.raises(Refusal) as refused:
        chosen_options(lot=lot, choices=[OptionChoice(code, quantity) for code, quantity in choices])
    assert refused.value.text
    return refused.value.code, refused.value.field, refused.value.status


def test_offer_carries_everything_a_quote_freezes(
    seeded: Seeded, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        offer = lot_offer(lot="b200-180x2", days=7)
    assert offer == LotOffer(
        lot_code="b200-180x2",
        accelerator_slug="b200-180",
        accelerator_name="NVIDIA B200",
        cards=2,
        days=7,
        amount=Decimal("2028.00"),
        list_amount=Decimal("2180.64"),
        card_hour_amount=Decimal("6.4900"),
        discount=Decimal("0.07"),
        currency="USD",
        price_version=1,
    )


def test_worked_example_from_the_table_to_the_total(b200: LotOffer) -> None:
    quote = price_quote(lot_price=b200, lots=3, options=(), tax=tax_for(bill_to(country="DE")))
    assert (str(quote.total), quote.currency, quote.price_version) == ("6084.00", "USD", 1)


def test_all_offers_of_an_accelerator(
    seeded: Seeded, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    l40s = Accelerator.objects.get(slug="l40s-48")
    with django_assert_num_queries(1):
        offers = lot_offers(accelerator=l40s)
    assert [(o.cards, o.days) for o in offers] == [(c, d) for c in (1, 2, 4) for d in (3, 7, 30)]
    assert lot_offers(accelerator=Accelerator.objects.get(slug="mi355x-288")) == ()


@pytest.mark.parametrize("days", [4, *BIG])
def test_term_that_is_not_offered(seeded: Seeded, days: int) -> None:
    with pytest.raises(Invalid) as refused:
        lot_offer(lot="b200-180x2", days=days)
    assert (refused.value.code, refused.value.field, refused.value.status) == ("unknown_term", "days", 400)
    assert "3, 7, 30" in refused.value.text


@pytest.mark.parametrize("lot", ["b200-180x3", "mi355x-288x8", "no-such-lot"])
def test_lot_that_is_not_sold(seeded: Seeded, lot: str) -> None:
    with pytest.raises(Refusal) as refused:
        lot_offer(lot=lot, days=7)
    assert (refused.value.code, refused.value.field, refused.value.status) == ("not_on_sale", "lot", 422)


@pytest.mark.parametrize("lot", ["", "b200-180x2\x00", "\ud800", "B200", "a" * 10_000, "x'; DROP TABLE"])
def test_lot_that_no_lot_can_be_called(seeded: Seeded, lot: str) -> None:
    with pytest.raises(Invalid) as refused:
        lot_offer(lot=lot, days=7)
    assert (refused.value.code, refused.value.field, refused.value.status) == ("invalid_text", "lot", 400)


def test_withdrawn_lot_enters_no_new_quote_and_an_old_offer_keeps_its_price(b200: LotOffer) -> None:
    Lot.objects.filter(code="b200-180x2").update(on_sale=False)
    with pytest.raises(Refusal) as refused:
        lot_offer(lot="b200-180x2", days=7)
    assert refused.value.code == "not_on_sale"
    quote = price_quote(lot_price=b200, lots=1, options=(), tax=tax_for(bill_to(country="DE")))
    assert str(quote.total) == "2028.00"


def test_raised_price_reaches_new_offers_only_by_a_new_table(b200: LotOffer) -> None:
    Accelerator.objects.filter(slug="b200-180").update(card_hour_amount=Decimal("9.00"))
    assert lot_offer(lot="b200-180x2", days=7) == b200
    publish_prices()
    dearer = lot_offer(lot="b200-180x2", days=7)
    assert (dearer.price_version, dearer.amount > b200.amount) == (2, True)


def test_options_of_a_lot(seeded: Seeded, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        offers = option_offers(lot="b200-180x2", days=7)
    assert {o.code: str(o.unit_amount) for o in offers} == {
        "nvme-extra": "8.40",
        "dataset-preload": "6.00",
        "checkpoint-copy": "17.50",
        "priority-support": "105.00",
    }
    assert {o.code for o in offers if o.recurring} == {"nvme-extra", "checkpoint-copy", "priority-support"}
    assert "nvme-extra" not in {o.code for o in option_offers(lot="rtx-4090-24x1", days=7)}


def test_chosen_options_are_priced(b200: LotOffer, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        chosen = chosen_options(
            lot=b200, choices=[OptionChoice("nvme-extra", 2), OptionChoice("dataset-preload", 1)]
        )
    quote = price_quote(lot_price=b200, lots=1, options=chosen, tax=tax_for(bill_to(country="DE")))
    assert [(line.code, str(line.amount)) for line in quote.lines] == [
        ("b200-180x2", "2028.00"),
        ("nvme-extra", "16.80"),
        ("dataset-preload", "6.00"),
        ("DE", "0.00"),
    ]
    assert str(quote.total) == "2050.80"


def test_no_choice_asks_nothing(b200: LotOffer, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        assert chosen_options(lot=b200, choices=[]) == ()


def test_unknown_option(b200: LotOffer) -> None:
    assert refusal(b200, ("nvme-extra", 1), ("jacuzzi", 1)) == ("option_unknown", "options.1.code", 422)


def test_option_of_other_lots(rtx: LotOffer) -> None:
    assert refusal(rtx, ("nvme-extra", 1)) == ("option_not_for_lot", "options.0.code", 422)


@pytest.mark.parametrize("quantity", [31, *BIG])
def test_quantity_out_of_bounds(b200: LotOffer, quantity: int) -> None:
    assert refusal(b200, ("nvme-extra", quantity)) == ("option_quantity", "options.0.quantity", 400)


def test_bounds_themselves_are_sold(b200: LotOffer) -> None:
    for quantity in (1, 30):
        assert (
            chosen_options(lot=b200, choices=[OptionChoice("nvme-extra", quantity)])[0].quantity == quantity
        )


def test_one_option_twice_is_refused_even_when_it_would_cancel_out(b200: LotOffer) -> None:
    assert refusal(b200, ("nvme-extra", 1), ("nvme-extra", -1)) == ("option_twice", "options.1.code", 400)


@pytest.mark.parametrize("code", ["", "nvme\x00", "\udc00", "NVME", "n" * 10_000])
def test_option_code_that_cannot_be_one(b200: LotOffer, code: str) -> None:
    assert refusal(b200, (code, 1)) == ("invalid_text", "options.0.code", 400)


def test_endless_list_of_options_is_refused_before_any_query(
    b200: LotOffer, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert refusal(b200, *((f"option-{n}", 1) for n in range(10_000))) == (
            "too_many_options",
            "options",
            400,
        )


@pytest.mark.parametrize("change", [{"on_sale": False}, {"unit_amount": None}])
def test_option_withdrawn_or_without_price(seeded: Seeded, change: dict[str, object]) -> None:
    Option.objects.filter(code="nvme-extra").update(**change)
    publish_prices()
    lot = lot_offer(lot="b200-180x2", days=7)
    assert refusal(lot, ("nvme-extra", 1)) == ("not_on_sale", "options.0.code", 422)
    assert "nvme-extra" not in {o.code for o in option_offers(lot="b200-180x2", days=7)}


def test_options_are_priced_from_the_table_of_their_lot(b200: LotOffer) -> None:
    Option.objects.filter(code="nvme-extra").update(unit_amount=Decimal("9.00"))
    publish_prices()
    chosen = chosen_options(lot=b200, choices=[OptionChoice("nvme-extra", 1)])
    assert (str(chosen[0].offer.unit_amount), chosen[0].offer.price_version) == ("8.40", 1)


def test_environments_for_a_card_come_runnable_first_with_reasons_for_the_rest(
    seeded: Seeded, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        verdicts = images_for(accelerator=Accelerator.objects.get(slug="b200-180"))
    runs = [item.verdict.runs for item in verdicts]
    assert runs == [True] * 4 + [False] * 4
    old = next(item.verdict for item in verdicts if item.image.code == "pt-cu124")
    assert [reason.code for reason in old.reasons] == ["target_missing", "stack_too_old"]


def test_environment_that_does_not_run_is_refused_with_the_reason(seeded: Seeded) -> None:
    with pytest.raises(Refusal) as refused:
        current_shelf().image_for(code="pt-cu124", accelerator=Accelerator.objects.get(slug="b200-180"))
    assert (refused.value.code, refused.value.field, refused.value.status) == (
        "image_incompatible",
        "image",
        422,
    )
    assert "sm_100" in refused.value.text


def test_environment_that_runs_with_a_warning(seeded: Seeded) -> None:
    item = current_shelf().image_for(code="pt-rocm64", accelerator=Accelerator.objects.get(slug="mi300x-192"))
    assert item.image.name == "PyTorch 2.9, ROCm 6.4"
    assert [warning.code for warning in item.verdict.warnings] == ["stack_minimum_unknown"]


def test_environment_unknown_withdrawn_or_unspeakable(seeded: Seeded) -> None:
    b200 = Accelerator.objects.get(slug="b200-180")
    Image.objects.filter(code="pt-cu128").update(on_sale=False)
    for code, expected in (
        ("pt-cu128", "not_on_sale"),
        ("no-such", "not_on_sale"),
        ("pt\x00", "invalid_text"),
    ):
        with pytest.raises(Refusal) as refused:
            current_shelf().image_for(code=code, accelerator=b200)
        assert (refused.value.code, refused.value.field) == (expected, "image")
