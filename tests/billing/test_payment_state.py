"""What pages and the API are told of a payment: sums, places, the link for wallets, when it is final."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from billing import offers
from billing.models import CardSession, PaymentRequest, PaymentView, Rail
from billing.models.payments import CryptoPart
from billing.networks import Settle
from billing.selectors import payment_state
from billing.services.demo_pay import request_demo_transfer
from billing.uri import payment_uri
from core.errors import Forbidden
from orders.models import Order
from shop.pages.settling import final_when, other_arrived
from tests import scenario
from tests.seen import transfers_seen

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]
NATIVE_CHAIN = 10**18


def test_c37_the_link_holds_integers_the_chain_and_checksummed_addresses(order: Order) -> None:
    part = order.payment.crypto
    assert payment_uri(part, 25_500_000) == (
        f"ethereum:{part.contract}@31337/transfer?address={part.address}&uint256=25500000"
    )
    native = CryptoPart(**{**vars(part), "contract": "", "asset": "ETH", "decimals": 18})
    assert payment_uri(native, 27 * NATIVE_CHAIN) == f"ethereum:{part.address}@31337?value=27{'0' * 18}"
    with pytest.raises(ValueError, match="at least one"):
        payment_uri(part, 0)


def test_c02_the_rest_is_asked_for_after_a_part(order: Order) -> None:
    chain = scenario.Chain()
    payment = order.payment.crypto
    chain.advance()
    chain.send(order.payment, payment.due_units - 1_000_000)
    chain.look(order.payment)
    state = payment_state(order)
    assert state is not None
    assert state.uri.endswith("&uint256=1000000")
    assert (state.address, str(state.still_due)) == (payment.address, "1.000000")
    chain.send(order.payment, 1_000_000)
    chain.settle(order.payment)
    state = payment_state(order)
    assert state is not None
    assert state.uri == ""
    assert [seen.amount for seen in transfers_seen(order)] == [state.amount - 1, 1]


def test_c04_late_and_timely_money_are_two_sums(order: Order) -> None:
    chain = scenario.Chain()
    due = order.payment.crypto.due_units
    chain.advance()
    chain.send(order.payment, 10_000_000)
    chain.advance(to=order.payment.expires_at)
    chain.advance()
    chain.send(order.payment, due - 5_500_000)
    chain.settle(order.payment)
    state = payment_state(order)
    assert state is not None
    assert set(state.flags) == {"late", "over"}
    assert (str(state.on_time), str(state.excess)) == ("10.000000", "4.500000")
    assert state.late == state.received - state.on_time
    assert [seen.on_time for seen in transfers_seen(order)] == [True, False]


def test_what_came_elsewhere_is_named(order: Order) -> None:
    elsewhere = [
        {
            "network": "local",
            "chain_id": 31337,
            "asset": "USDT",
            "contract": "0x1",
            "decimals": 6,
            "units": "7",
        },
        {"network": "gone", "chain_id": 9, "asset": "USDC", "contract": "0x2", "decimals": 2, "units": "150"},
    ]
    PaymentView.objects.update(others=elsewhere)
    state = payment_state(order)
    assert state is not None
    here, there = state.others
    assert (here.is_here, here.asset, str(here.amount)) == (True, "USDT", "0.000007")
    assert (there.is_here, there.network_name, str(there.amount)) == (False, "gone", "1.50")
    with translation.override("en"):
        assert other_arrived(here, asked="USDC", network="Local") == (
            "0.000007 USDT arrived, the order expects USDC."
        )
        assert (
            other_arrived(there, asked="USDC", network="Local")
            == "1.50 USDC arrived on gone, the order expects USDC on Local."
        )


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Settle(mode="finalized"), "finalized"),
        (Settle(mode="confirmations", value=1), "1 confirmation"),
        (Settle(mode="confirmations", value=12), "12 confirmations"),
        (Settle(mode="age", value=120), "2\u00a0min"),
    ],
)
def test_when_it_is_final_is_said_in_words(rule: Settle, words: str) -> None:
    with translation.override("en"):
        assert words in final_when(rule)


def test_a_payment_by_card_alone_has_no_chain(order: Order) -> None:
    PaymentRequest.objects.filter(pk=order.payment.pk).update(
        rail=Rail.BANK_CARD, address=None, network="", chain_id=None, asset="", asset_contract=""
    )
    state = payment_state(order)
    assert state is not None
    assert (state.takes_crypto, state.address, state.uri, state.chain_id) == (False, "", "", 0)
    assert (state.asset, state.amount, state.still_due) == ("USD", order.quote.total, order.quote.total)
    assert transfers_seen(order) == ()
    assert not CardSession.objects.exists()
    with pytest.raises(Forbidden):
        request_demo_transfer(order_id=order.public_id)


def test_an_asset_may_be_watched_without_being_offered(settings: Any, tmp_path: Path) -> None:
    assert [offer.asset.symbol for offer in offers.crypto_offers()] == ["USDC"]
    text = Path(settings.EVM_NETWORKS_FILE).read_text(encoding="utf-8")
    file = tmp_path / "networks.toml"
    file.write_text(text.replace('price = "1"', "offered = false"), encoding="utf-8")
    settings.EVM_NETWORKS_FILE = str(file)
    assert offers.crypto_offers() == []
