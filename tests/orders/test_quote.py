"""Quotes: frozen, signed, and refused in plain words."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.conf import settings
from django.db import transaction

from catalog.models import Option
from catalog.services.publish import publish_prices
from core import clock
from core.errors import Invalid, Refusal
from core.models import Event
from orders import selectors
from orders.lifecycle import QuoteStatus
from orders.services import expire
from tests import scenario

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def shop(db: None) -> None:
    scenario.open_shop()


def test_the_worked_example_to_the_cent() -> None:
    totals = {days: scenario.quote(days=days).total for days in (3, 7, 30)}
    assert totals == {3: Decimal("934.56"), 7: Decimal("2028.00"), 30: Decimal("7476.48")}
    assert scenario.quote(lots=3, days=7).total == Decimal("6084.00")


def test_lines_add_up_and_carry_options() -> None:
    quote = scenario.quote(options=[("nvme-extra", 2), ("dataset-preload", 1)])
    amounts = [Decimal(line["amount"]) for line in quote.lines]
    assert sum(amounts) == quote.total == quote.subtotal + quote.tax
    assert [line["kind"] for line in quote.lines] == ["lot", "option", "option", "tax"]
    assert quote.tax == 0


def test_open_quote_keeps_its_price_when_the_table_changes() -> None:
    quote = scenario.quote()
    accelerator = quote.lot.accelerator
    accelerator.card_hour_amount = Decimal("9.99")
    accelerator.save()
    publish_prices(note="raised")
    assert scenario.quote().total > quote.total
    assert scenario.order(quote).payment.amount == Decimal("934.56")


@pytest.mark.parametrize("days", [4, 0, -1, 2**31, 10**12])
def test_s28_other_terms_are_refused(days: int) -> None:
    with pytest.raises(Invalid) as refused:
        scenario.quote(days=days)
    assert refused.value.field == "days"


@pytest.mark.parametrize("lots", [0, -1, 10**12, 2**63])
def test_s28_impossible_numbers_of_lots_are_refused(lots: int) -> None:
    with pytest.raises(Refusal) as refused:
        scenario.quote(lots=lots)
    assert refused.value.field == "lots"


def test_more_cards_than_one_order_may_take() -> None:
    with pytest.raises(Refusal) as refused:
        scenario.quote(lots=9)
    assert (refused.value.code, refused.value.status) == ("too_many_cards", 422)


@pytest.mark.parametrize(("image", "why"), [("pt-cu124", "sm_100"), ("pt-rocm64", "ROCm")])
def test_image_that_does_not_run_is_refused_with_the_reason(image: str, why: str) -> None:
    with pytest.raises(Refusal) as refused:
        scenario.quote(image=image)
    assert refused.value.code == "image_incompatible"
    assert why in refused.value.text


def test_withdrawn_lot_is_not_quoted() -> None:
    lot = scenario.quote().lot
    lot.on_sale = False
    lot.save()
    with pytest.raises(Refusal) as refused:
        scenario.quote()
    assert refused.value.code == "not_on_sale"


def _whole_hour(hours: float) -> datetime:
    return (clock.now() + timedelta(hours=hours)).replace(minute=0, second=0, microsecond=0)


@pytest.mark.parametrize("hours", [-2, 2, 61 * 24])
def test_starts_that_are_not_offered(hours: float) -> None:
    with pytest.raises(Refusal) as refused:
        scenario.quote(starts_at=_whole_hour(hours))
    assert refused.value.code == "start_not_offered"


def test_start_off_the_hour_and_without_zone() -> None:
    with pytest.raises(Refusal) as refused:
        scenario.quote(starts_at=_whole_hour(10) + timedelta(minutes=30))
    assert refused.value.code == "start_not_offered"
    with pytest.raises(Invalid) as naive:
        scenario.quote(starts_at=datetime(2030, 1, 1, 12))  # noqa: DTZ001
    assert naive.value.field == "starts_at"


def test_offered_start_is_kept_in_utc() -> None:
    start = _whole_hour(24)
    quote = scenario.quote(starts_at=start)
    assert quote.starts_at == start
    assert json.loads(quote.document)["starts_at"] == start.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_expiry_by_the_clock_then_by_the_sweep() -> None:
    quote = scenario.quote()
    with time_machine.travel(quote.expires_at + timedelta(seconds=1), tick=False):
        assert quote.status == QuoteStatus.OPEN
        assert selectors.quote_status(quote) == QuoteStatus.EXPIRED
        with pytest.raises(Refusal) as refused:
            scenario.order(quote)
        assert refused.value.code == "quote_expired"
        for _twice in range(2):
            for public_id in expire.overdue_quotes():
                with transaction.atomic():
                    expire.expire_quote(quote_id=public_id)
    quote.refresh_from_db()
    assert quote.status == QuoteStatus.EXPIRED
    assert Event.objects.filter(name="quote.expired").count() == 1


def test_option_withdrawn_after_the_quote_cannot_be_sold() -> None:
    quote = scenario.quote(options=[("nvme-extra", 1)])
    Option.objects.filter(code="nvme-extra").update(on_sale=False)
    with pytest.raises(Refusal) as refused:
        scenario.order(quote)
    assert refused.value.code == "not_on_sale"


def test_quote_is_valid_for_half_an_hour() -> None:
    quote = scenario.quote()
    assert quote.expires_at - quote.created_at == timedelta(seconds=settings.QUOTE_VALID_SECONDS)
