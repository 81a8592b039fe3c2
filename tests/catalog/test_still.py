"""An open quote keeps its price, but what was withdrawn since is not sold."""

import pytest
from pytest_django import DjangoAssertNumQueries

from catalog.models import Image, Lot, Option
from catalog.selectors import require_still_on_sale
from catalog.services.seed import Seeded
from core.errors import Refusal

pytestmark = pytest.mark.django_db

OPTIONS = ["nvme-extra", "dataset-preload"]


def check(option_codes: list[str]) -> None:
    require_still_on_sale(
        lot=Lot.objects.get(code="b200-180x2"),
        image=Image.objects.get(code="pt-cu128"),
        option_codes=option_codes,
    )


def test_what_is_on_sale_passes(seeded: Seeded, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(3):  # lot, image, options
        check(OPTIONS)
    with django_assert_num_queries(2):
        check([])


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [(Lot, "b200-180x2", "lot"), (Image, "pt-cu128", "environment"), (Option, "dataset-preload", "option")],
)
def test_what_was_withdrawn_is_refused(
    seeded: Seeded, model: type[Lot] | type[Image] | type[Option], code: str, words: str
) -> None:
    model.objects.filter(code=code).update(on_sale=False)
    with pytest.raises(Refusal) as refused:
        check(OPTIONS)
    assert (refused.value.code, refused.value.field, refused.value.status) == ("not_on_sale", "quote", 422)
    assert words in refused.value.text
