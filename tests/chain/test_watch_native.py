"""The native coin: a price that two sources agree on, and money that is judged by the balance alone."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine

from billing import news, offers
from billing.models import ChainState, PaymentView, PriceReading, Transfer
from billing.selectors import payment_state
from billing.services.checkout import CheckoutRequest, CryptoChoice, checkout
from billing.services.fill_pool import fill_pool
from billing.services.find_internal import increases
from billing.services.read_prices import read_prices
from billing.services.watch import watch_network
from core import clock, outbox
from core.errors import Unavailable
from core.models import Decision
from orders.models import Order
from tests import scenario
from tests.chain.lab import FINALITY, ChainLab, network_table
from tests.many_payments import open_many
from tests.seen import transfers_seen

pytestmark = [pytest.mark.django_db, pytest.mark.chain]
NetworksFile = Callable[..., None]
ETH = 10**18


@pytest.fixture
def priced(chain_lab: ChainLab, networks_file: NetworksFile) -> ChainLab:
    """An open shop whose network has a native coin with two sources, 2,000 and 2,010 dollars."""
    networks_file(network_table(chain_lab, native=True, multicall=True))
    say(chain_lab)
    scenario.open_shop(offered=False)
    assert watch_network("local")
    fill_pool()
    read_prices()
    return chain_lab


def say(lab: ChainLab, *, first: int = 2_000 * 10**8, age: timedelta = timedelta(0)) -> None:
    lab.say_price(lab.feed, first, clock.now() - age)
    lab.say_price(lab.second_feed, 2_010 * 10**18, clock.now())


def offered() -> set[str]:
    return {offer.asset.symbol for offer in offers.crypto_offers()}


def buy() -> Order:
    place = scenario.place_request(scenario.quote())
    return checkout(CheckoutRequest(place=place, pay_with=CryptoChoice("local", "ETH")))


def view_of(order: Order) -> PaymentView:
    return PaymentView.objects.get(payment=order.payment)


def settle(lab: ChainLab) -> None:
    lab.mine(FINALITY)
    assert watch_network("local")
    outbox.drain()


def test_c08_the_shown_sum_is_the_asked_sum_and_pays(priced: ChainLab) -> None:
    order = buy()
    payment = order.payment
    assert (payment.rate, payment.asset_contract) == (Decimal(2000), "")
    assert priced.feed in payment.rate_source
    assert payment.rate_at is not None
    state = payment_state(order)
    assert state is not None
    assert len(state.amount.normalize().as_tuple().digits) <= 8
    exact = payment.amount / Decimal(2000)
    assert exact <= state.amount < exact + Decimal("0.0000001")
    assert payment.crypto.due_units == int(state.amount * ETH)
    assert state.uri == f"ethereum:{payment.crypto.address}@31337?value={payment.crypto.due_units}"

    priced.pay_native(payment.crypto.address, payment.crypto.due_units)
    assert watch_network("local")
    assert view_of(order).status == "seen"
    settle(priced)
    assert (view_of(order).status, view_of(order).flags) == ("settled", [])


def test_the_rate_stays_as_it_was_at_the_checkout(priced: ChainLab) -> None:
    order = buy()
    say(priced, first=2_020 * 10**8)
    read_prices()
    assert buy().payment.rate == Decimal(2010)
    order.payment.refresh_from_db()
    assert order.payment.rate == Decimal(2000)


def test_c22_an_internal_transfer_pays_and_what_was_undone_does_not(priced: ChainLab) -> None:
    order = buy()
    address, due = order.payment.crypto.address, order.payment.crypto.due_units
    priced.send("Wallet", priced.wallet, "payThenUndo", address, due)
    priced.mine(3)
    priced.send("Wallet", priced.wallet, "pay", address, due)
    block = priced.head().number
    priced.mine(5)
    settle(priced)
    assert view_of(order).status == "settled"
    [transfer] = Transfer.objects.all()
    assert (transfer.tx_hash, transfer.block_number, transfer.units) == ("", block, due)
    [seen] = transfers_seen(order)
    assert (seen.tx_hash, seen.final, seen.url) == ("", True, "")


def test_parts_in_several_blocks_are_found_one_by_one(priced: ChainLab) -> None:
    order = buy()
    address, due = order.payment.crypto.address, order.payment.crypto.due_units
    for units in (due - 3, 1, 2):
        priced.pay_native(address, units)
        priced.mine(4)
    settle(priced)
    assert [row.units for row in Transfer.objects.all()] == [due - 3, 1, 2]
    assert view_of(order).status == "settled"


def test_c26_a_native_payment_that_is_dropped(priced: ChainLab) -> None:
    order = buy()
    priced.pay_native(order.payment.crypto.address, order.payment.crypto.due_units)
    assert watch_network("local")
    assert view_of(order).status == "seen"
    priced.reorg(1)
    assert watch_network("local")
    assert (view_of(order).status, view_of(order).flags) == ("awaiting", ["dropped"])


def test_c06_a_token_at_a_native_order_is_another_asset(priced: ChainLab) -> None:
    order = buy()
    priced.pay(order.payment.crypto.address, 25_500_000)
    settle(priced)
    assert (view_of(order).flags, view_of(order).received_units) == (["wrong_asset"], 0)


def test_late_native_money_is_late_by_its_block(priced: ChainLab) -> None:
    order = buy()
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=5), tick=True):
        priced.set_next_time(clock.now())
        priced.pay_native(order.payment.crypto.address, order.payment.crypto.due_units)
        settle(priced)
    assert (view_of(order).status, view_of(order).flags) == ("expired", ["late"])


NOW = timedelta(0)
BAD = {
    "zero": (0, NOW, "no price"),
    "negative": (-1, NOW, "no price"),
    "far": (2_800 * 10**8, NOW, "too far"),
    "yesterday": (2_000 * 10**8, timedelta(days=1), "it is of"),
    "future": (2_000 * 10**8, -timedelta(hours=1), "future"),
    "huge": (2**255 - 1, NOW, "no price"),
    "apart": (2_060 * 10**8, NOW, ""),
}


@pytest.mark.parametrize("case", BAD)
def test_c38_a_price_that_is_nonsense_takes_the_coin_off_offer(priced: ChainLab, case: str) -> None:
    assert offered() == {"USDC", "ETH"}
    answer, age, reason = BAD[case]
    say(priced, first=answer, age=age)
    read_prices()
    assert offered() == {"USDC"}
    with pytest.raises(Unavailable) as caught:
        buy()
    assert caught.value.code == "payment_unavailable"
    row = PriceReading.objects.filter(source__contains=priced.feed).latest("id")
    assert reason in row.problem
    assert (row.price is None) == bool(reason)
    assert Decision.objects.filter(kind="price_unusable", closed_at=None).count() == 1
    say(priced)
    read_prices()
    assert offered() == {"USDC", "ETH"}
    assert not Decision.objects.filter(kind="price_unusable", closed_at=None).exists()


def test_c38_a_price_that_nobody_read_lately_is_none(priced: ChainLab, settings: Any) -> None:
    age = settings.PRICE_READ_MAX_AGE_SECONDS + 1
    with time_machine.travel(clock.now() + timedelta(seconds=age), tick=True):
        assert offered() == {"USDC"}


def test_c38_what_is_no_feed_is_no_price(
    priced: ChainLab, networks_file: NetworksFile, chain_lab: ChainLab
) -> None:
    table = network_table(chain_lab, native=True).replace(
        f'feed = "{priced.feed}"', f'feed = "{priced.nft}"', 1
    )
    networks_file(table)
    read_prices()
    assert offered() == {"USDC"}


def test_another_selling_currency_has_no_rate(priced: ChainLab, settings: Any) -> None:
    settings.CURRENCY = "EUR"
    assert offered() == {"USDC"}


def test_unchanged_prices_write_no_rows(priced: ChainLab) -> None:
    before = PriceReading.objects.count()
    read_prices()
    assert PriceReading.objects.count() == before == 2


def test_open_native_requests_are_read_in_turn_and_pages_say_so(
    priced: ChainLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = buy()
    ChainState.objects.update(swept_at=clock.system_now())
    state = payment_state(order)
    assert state is not None
    once = state.check_every_blocks
    monkeypatch.setattr(news, "NATIVE_GROUP", 4)
    open_many(order, 10)
    priced.pay_native(order.payment.crypto.address, order.payment.crypto.due_units)
    looks = []
    for _ in range(3):
        priced.mine()
        assert watch_network("local")
        looks.append(view_of(order).status)
    assert looks[-1] == "seen"
    assert PaymentView.objects.filter(last_block__isnull=False).count() == 11
    state = payment_state(order)
    assert state is not None
    assert state.check_every_blocks > once
    assert state.last_block == view_of(order).last_block


def test_increases_finds_each_step_and_leaves_what_was_moved_out() -> None:
    steps = {10: 5, 11: 7, 40: 1, 55: 9}

    def balance_at(number: int) -> int:
        known = [block for block in steps if block <= number]
        return steps[max(known)] if known else 0

    assert list(increases(balance_at, low=0, high=100)) == [(10, 5), (11, 2), (55, 8)]
    assert list(increases(balance_at, low=60, high=100)) == []
    assert list(increases(balance_at, low=0, high=100, most=1)) == [(10, 5)]
