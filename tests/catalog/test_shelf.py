"""What is on sale is kept in memory, and what was withdrawn or published a moment ago counts at once."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from catalog.models import Accelerator, Image, Lot, Option, Term
from catalog.selectors import shelf as module
from catalog.selectors.shelf import Shelf, current_shelf
from catalog.services.publish import publish_prices
from catalog.services.seed import Seeded

pytestmark = pytest.mark.django_db
LOT, IMAGE, OPTION = "b200-180x2", "pt-cu128", "nvme-extra"


def _publish(**change: object) -> None:
    Accelerator.objects.filter(slug="b200-180").update(**change)
    publish_prices()


def _limit_option() -> None:
    Option.objects.filter(code=OPTION).update(for_all_lots=False)
    Option.objects.get(code=OPTION).lots.set([Lot.objects.get(code="l40s-48x1")])


# What happens to the catalogue, and what somebody who asks next must see of it.
CHANGES: dict[str, tuple[Callable[[], object], Callable[[Shelf], object], object]] = {
    "lot withdrawn": (
        lambda: Lot.objects.filter(code=LOT).update(on_sale=False),
        lambda shelf: (LOT in shelf.lots, (LOT, 7) in shelf.offers),
        (False, False),
    ),
    "environment withdrawn": (
        lambda: Image.objects.filter(code=IMAGE).update(on_sale=False),
        lambda shelf: IMAGE in shelf.images,
        False,
    ),
    "option withdrawn": (
        lambda: Option.objects.filter(code=OPTION).update(on_sale=False),
        lambda shelf: shelf.options.options[OPTION].on_sale,
        False,
    ),
    "option for other lots": (_limit_option, lambda shelf: shelf.options.lot_codes[OPTION], {"l40s-48x1"}),
    "term added": (lambda: Term.objects.create(days=14, discount=0), lambda shelf: 14 in shelf.days, True),
    "prices published": (
        lambda: _publish(card_hour_amount=Decimal("9.00")),
        lambda shelf: (shelf.offers[LOT, 7].price_version, shelf.offers[LOT, 7].card_hour_amount),
        (2, Decimal("9.0000")),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_reaches_the_very_next_call(name: str, seeded: Seeded) -> None:
    change, look, expected = CHANGES[name]
    assert look(current_shelf()) != expected
    change()
    assert look(current_shelf()) == expected


def test_one_query_as_long_as_nothing_changes(
    seeded: Seeded, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(6):
        first = current_shelf()
    with django_assert_num_queries(1):
        assert current_shelf() is first


def test_what_was_read_during_a_change_that_is_taken_back_is_not_kept(
    seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stamp is then what it was, and would answer for a shelf without the lot for ever."""
    read = module._read

    def meanwhile() -> Shelf:
        Lot.objects.filter(code=LOT).update(on_sale=False)
        return read()

    with monkeypatch.context() as patched:
        patched.setattr(module, "_read", meanwhile)
        assert LOT not in current_shelf().lots
    Lot.objects.filter(code=LOT).update(on_sale=True)
    assert LOT in current_shelf().lots
