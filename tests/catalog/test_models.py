"""What staff type is refused by the form and, whatever writes it, by the database."""

from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, connection, models, transaction

from catalog.models import Accelerator, Image, Lot, LotPrice, Option, OptionPrice, PriceVersion, Term
from catalog.services.seed import Seeded
from core.clock import now
from tests.factories.catalog import AcceleratorFactory, ImageFactory, LotFactory, OptionFactory, TermFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("factory", "changes"),
    [
        (OptionFactory, {"unit_amount": Decimal("-0.01")}),
        (OptionFactory, {"max_quantity": 0}),
        (OptionFactory, {"max_quantity": 10_001}),
        (AcceleratorFactory, {"card_hour_amount": Decimal(-1)}),
        (AcceleratorFactory, {"card_hour_amount": Decimal(0)}),
        (AcceleratorFactory, {"memory_gb": -1}),
        (AcceleratorFactory, {"grade": "X"}),
        (AcceleratorFactory, {"stack": "OpenCL"}),
        (AcceleratorFactory, {"host_arch": "sparc"}),
        (TermFactory, {"discount": Decimal("-0.01")}),
        (TermFactory, {"discount": Decimal("1.00")}),
        (TermFactory, {"days": 0}),
        (LotFactory, {"cards": 0}),
        (LotFactory, {"cards": 65}),
        (ImageFactory, {"stack": "OpenCL"}),
        (ImageFactory, {"targets": []}),
        (ImageFactory, {"host_archs": []}),
    ],
)
def test_refused_by_form_and_database(factory: Any, changes: dict[str, Any]) -> None:
    row: models.Model = factory.create()
    for name, value in changes.items():
        setattr(row, name, value)
    with pytest.raises(ValidationError) as refused:
        row.full_clean()
    assert set(changes) & set(refused.value.message_dict) or "__all__" in refused.value.message_dict
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()


@pytest.mark.parametrize(
    ("factory", "changes"),
    [
        (AcceleratorFactory, {"slug": "Upper"}),
        (AcceleratorFactory, {"slug": "line\n"}),
        (AcceleratorFactory, {"stack_minimum": "12.x"}),
        (AcceleratorFactory, {"driver_minimum": "570-open"}),
        (AcceleratorFactory, {"target": "sm 90"}),
        (ImageFactory, {"stack_version": "12."}),
        (ImageFactory, {"targets": ["sm_90", "SM 100"]}),
        (ImageFactory, {"host_archs": ["sparc"]}),
    ],
)
def test_malformed_codes_and_versions_are_refused_by_the_form(factory: Any, changes: dict[str, Any]) -> None:
    row: models.Model = factory.create()
    for name, value in changes.items():
        setattr(row, name, value)
    with pytest.raises(ValidationError) as refused:
        row.full_clean()
    assert set(refused.value.message_dict) == set(changes)


def test_a_lot_of_another_size_is_another_lot() -> None:
    lot = LotFactory.create(cards=2)
    lot.full_clean()
    lot.cards = 4
    with pytest.raises(ValidationError) as refused:
        lot.full_clean()
    assert list(refused.value.message_dict) == ["code"]


def test_a_lot_without_accelerator_is_refused_without_an_error_of_ours() -> None:
    with pytest.raises(ValidationError) as refused:
        Lot(code="nothingx1", cards=1).full_clean()
    assert "accelerator" in refused.value.message_dict


def test_published_prices_are_positive_and_once_per_lot_and_term() -> None:
    lot, term = LotFactory.create(), TermFactory.create()
    version = PriceVersion.objects.create(number=1, published_at=now(), currency="USD")
    price = {
        "version": version,
        "lot": lot,
        "term": term,
        "list_amount": Decimal("2.00"),
        "card_hour_amount": Decimal("1.00"),
        "discount": Decimal(0),
    }
    for amount in ("0.00", "-1.00", "2.01"):
        with pytest.raises(IntegrityError), transaction.atomic():
            LotPrice.objects.create(amount=Decimal(amount), **price)
    LotPrice.objects.create(amount=Decimal("2.00"), **price)
    with pytest.raises(IntegrityError), transaction.atomic():
        LotPrice.objects.create(amount=Decimal("1.00"), **price)
    with pytest.raises(IntegrityError), transaction.atomic():
        OptionPrice.objects.create(
            version=version, option=OptionFactory.create(), term=term, amount=Decimal("-0.01")
        )


def test_what_was_sold_cannot_be_deleted() -> None:
    lot, term = LotFactory.create(), TermFactory.create()
    version = PriceVersion.objects.create(number=1, published_at=now(), currency="USD")
    LotPrice.objects.create(
        version=version,
        lot=lot,
        term=term,
        amount=Decimal(1),
        list_amount=Decimal(1),
        card_hour_amount=Decimal(1),
        discount=Decimal(0),
    )
    for row in (lot, term, version, lot.accelerator):
        with pytest.raises(models.ProtectedError):
            row.delete()


@pytest.mark.parametrize("model", [PriceVersion, LotPrice, OptionPrice])
def test_published_tables_are_never_edited_or_deleted(seeded: Seeded, model: type[models.Model]) -> None:
    for statement in ("UPDATE {} SET id = id", "DELETE FROM {}"):
        refused = pytest.raises(DatabaseError, match="never changed")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement.format(model._meta.db_table))
    assert model._default_manager.exists()


def test_names_in_lists() -> None:
    assert str(AcceleratorFactory.create(slug="h200", name="NVIDIA H200")) == "NVIDIA H200"
    assert str(LotFactory.create(accelerator=Accelerator.objects.get(slug="h200"), cards=2)) == "h200x2"
    assert [str(Term(days=7)), str(Option(name="Extra")), str(Image(name="Base"))] == ["7", "Extra", "Base"]
