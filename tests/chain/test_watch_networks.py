"""Several networks and assets: money in the wrong place, one network down, endpoints that disagree, tiers."""

from collections.abc import Callable
from typing import Any

import pytest

from billing import offers
from billing.models import ChainState, PaymentRequest, PaymentView, Transfer
from billing.services.checkout import CheckoutRequest, CryptoChoice, checkout
from billing.services.claim import claim
from billing.services.fill_pool import fill_pool
from billing.services.watch import watch_all, watch_network
from core import clock, outbox
from core.models import Decision, OutgoingMail
from orders.models import Order
from tests import scenario
from tests.chain.endpoints import FaultyEndpoint, Forward, Raw, Rule
from tests.chain.lab import FINALITY, ChainLab, network_table

pytestmark = [pytest.mark.django_db, pytest.mark.chain]
NetworksFile = Callable[..., None]
MakeEndpoint = Callable[[Rule], FaultyEndpoint]


def view_of(order: Order) -> PaymentView:
    return PaymentView.objects.get(payment=order.payment)


def buy(network: str = "local", asset: str = "USDC") -> Order:
    place = scenario.place_request(scenario.quote())
    return checkout(CheckoutRequest(place=place, pay_with=CryptoChoice(network, asset)))


@pytest.fixture
def two(chain_lab: ChainLab, second_lab: ChainLab, networks_file: NetworksFile) -> None:
    """An open shop that offers two networks with two tokens each."""
    networks_file(
        network_table(chain_lab, usdt=True), network_table(second_lab, "other", usdt=True, multicall=True)
    )
    scenario.open_shop(offered=False)
    watch_all()
    fill_pool()


def settle(lab: ChainLab) -> None:
    lab.mine(FINALITY)
    watch_all()
    outbox.drain()


def decided(kind: str) -> list[dict[str, Any]]:
    return list(Decision.objects.filter(kind=kind, closed_at=None).values_list("facts", flat=True))


@pytest.mark.usefixtures("two")
def test_one_index_serves_all_networks_and_no_two_orders(chain_lab: ChainLab) -> None:
    first, second = buy("local"), buy("other")
    assert {offer.network.slug for offer in offers.crypto_offers()} == {"local", "other"}
    assert first.payment.crypto.deposit.index != second.payment.crypto.deposit.index


@pytest.mark.usefixtures("two")
def test_money_on_another_network_is_found_shown_and_not_counted(second_lab: ChainLab) -> None:
    order = buy("local")
    second_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    settle(second_lab)
    view = view_of(order)
    assert (view.status, view.flags, view.received_units) == ("awaiting", ["wrong_network"], 0)
    [other] = view.others
    assert (other["network"], other["asset"], other["units"]) == (
        "other",
        "USDC",
        str(order.payment.crypto.due_units),
    )
    assert Transfer.objects.get().chain_id == second_lab.anvil.chain_id
    [facts] = decided("payment_wrong_network")
    assert facts["others"][0]["network"] == "other"
    mails = OutgoingMail.objects.filter(order_ref=order.public_id, subject__contains="another network")
    assert "Chain other" in mails.get().text
    settle(second_lab)
    assert mails.count() == 1


@pytest.mark.usefixtures("two")
def test_the_right_money_still_pays_beside_money_on_another_network(
    chain_lab: ChainLab, second_lab: ChainLab
) -> None:
    order = buy("local")
    second_lab.pay(order.payment.crypto.address, 1_000_000)
    chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    settle(second_lab)
    settle(chain_lab)
    assert (view_of(order).status, view_of(order).flags) == ("settled", ["wrong_network"])


@pytest.mark.usefixtures("two")
def test_c36_another_configured_token_is_named_and_not_counted(chain_lab: ChainLab) -> None:
    order = buy("local", "USDC")
    chain_lab.send("SilentToken", chain_lab.usdt, "transfer", order.payment.crypto.address, 25_500_000)
    settle(chain_lab)
    view = view_of(order)
    assert (view.status, view.flags, view.received_units) == ("awaiting", ["wrong_asset"], 0)
    [facts] = decided("payment_wrong_asset")
    assert (facts["others"][0]["asset"], facts["others"][0]["amount"]) == ("USDT", "25.500000")


@pytest.mark.usefixtures("two")
def test_a_token_without_return_values_pays(chain_lab: ChainLab) -> None:
    order = buy("local", "USDT")
    payment = order.payment.crypto
    chain_lab.send("SilentToken", chain_lab.usdt, "transfer", payment.address, payment.due_units)
    settle(chain_lab)
    assert (view_of(order).status, view_of(order).flags) == ("settled", [])


@pytest.mark.usefixtures("two")
def test_money_collected_from_the_wrong_place_stays_received(
    chain_lab: ChainLab, second_lab: ChainLab
) -> None:
    order = buy("local")
    address = order.payment.crypto.address
    second_lab.pay(address, 7)
    settle(second_lab)
    second_lab.anvil.rpc("anvil_impersonateAccount", address)
    second_lab.anvil.rpc("anvil_setBalance", address, hex(10**18))
    second_lab.send("TestToken", second_lab.usdc, "transfer", second_lab.stranger, 7, sender=address)
    claim(order_id=order.public_id, by="test")
    settle(second_lab)
    assert "7" in {row["units"] for row in view_of(order).others}


def test_c33_one_network_down_hides_no_other(
    chain_lab: ChainLab, second_lab: ChainLab, networks_file: NetworksFile, endpoint: MakeEndpoint
) -> None:
    def limits(_method: str, _params: list[Any], _forward: Forward) -> Any:
        raise Raw(429, b"slow down")

    good, bad = network_table(second_lab, "other"), endpoint(limits)
    networks_file(network_table(chain_lab), good)
    scenario.open_shop(offered=False)
    watch_all()
    fill_pool()
    order = buy("local")
    networks_file(network_table(chain_lab, urls=[bad.url]), good)
    for _ in range(6):
        watch_all()
    assert {offer.network.slug for offer in offers.crypto_offers()} == {"other"}
    assert buy("other").payment.network == "other"
    assert view_of(order).status == "awaiting"
    state = ChainState.objects.get(network="local")
    assert state.next_at is not None
    assert state.failures == len(bad.requests) == 3  # then it pauses
    assert 0 < (state.next_at - clock.system_now()).total_seconds() <= 60

    ChainState.objects.filter(network="local").update(next_at=clock.system_now())
    networks_file(network_table(chain_lab), good)
    assert watch_network("local")
    assert ChainState.objects.get(network="local").failures == 0
    assert len(offers.crypto_offers()) == 2


def test_an_error_of_our_own_on_one_network_does_not_stop_the_next(
    chain_lab: ChainLab,
    second_lab: ChainLab,
    networks_file: NetworksFile,
    endpoint: MakeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    networks_file(network_table(chain_lab), network_table(second_lab, "other"))

    def broken(slug: str) -> bool:
        if slug == "local":
            raise RuntimeError("a mistake")
        return watch_network(slug)

    monkeypatch.setattr("billing.services.watch.watch_network", broken)
    with pytest.raises(RuntimeError, match="a mistake"):
        watch_all()
    assert ChainState.objects.get(network="other").offered


def test_two_endpoints_that_disagree_settle_nothing_and_staff_are_told(
    chain_lab: ChainLab, networks_file: NetworksFile, endpoint: MakeEndpoint
) -> None:
    lies = [False]

    def other_history(method: str, params: list[Any], forward: Forward) -> Any:
        answer = forward(method, *params)
        if lies[0] and method == "eth_getBlockByNumber" and params[0] != "latest":
            return {**answer, "hash": "0x" + "ee" * 32}
        return answer

    networks_file(network_table(chain_lab, urls=[chain_lab.anvil.url, endpoint(other_history).url]))
    scenario.open_shop(offered=False)
    assert watch_network("local")
    fill_pool()
    order = buy()
    chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    chain_lab.mine(FINALITY)
    lies[0] = True
    assert not watch_network("local")
    assert view_of(order).status == "awaiting"
    assert "disagree" in decided("endpoints_disagree")[0]["reason"]
    lies[0] = False
    assert watch_network("local")
    assert view_of(order).status == "settled"
    assert decided("endpoints_disagree") == []


TIERS = """
[[networks.SLUG.tiers]]
up_to = "1000"
mode = "confirmations"
value = 2
"""


def test_a_small_amount_settles_by_its_own_rule_and_a_large_one_by_the_strictest(
    chain_lab: ChainLab, networks_file: NetworksFile
) -> None:
    networks_file(network_table(chain_lab, tiers=TIERS))
    scenario.open_shop(offered=False, b200_nodes=2)
    assert watch_network("local")
    fill_pool()
    small = buy()
    large = checkout(
        CheckoutRequest(
            place=scenario.place_request(scenario.quote(lots=2)), pay_with=CryptoChoice("local", "USDC")
        )
    )
    assert small.payment.amount <= 1000 < large.payment.amount
    for order in (small, large):
        chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    chain_lab.mine()
    assert watch_network("local")
    assert (view_of(small).status, view_of(large).status) == ("settled", "seen")
    settle(chain_lab)
    assert view_of(large).status == "settled"


@pytest.mark.usefixtures("two")
def test_c31_odd_rows_stop_nobody_and_are_reported_once(chain_lab: ChainLab) -> None:
    orders = [buy() for _ in range(2)]
    odd, good = orders
    PaymentRequest.objects.filter(pk=odd.payment.pk).update(asset_contract="0x" + "77" * 20)
    deposit = type(odd.payment.crypto.deposit).objects.filter(pk=odd.payment.crypto.deposit.pk)
    deposit.update(address="0xnotanaddress")
    claim(order_id=odd.public_id, by="test", transaction_hash="0x" + "12" * 32)
    chain_lab.pay(good.payment.crypto.address, good.payment.crypto.due_units)
    for _ in range(2):
        settle(chain_lab)
    assert view_of(good).status == "settled"
    reported = Decision.objects.filter(kind="payment_unreadable")
    assert list(reported.values_list("order_ref", "closed_at")) == [(odd.public_id, None)]
    assert "no address" in reported.get().facts["error"]

    deposit.update(address=chain_lab.address(900).lower())  # an old import without a checksum
    settle(chain_lab)
    assert reported.get().closed_at is not None


@pytest.mark.usefixtures("two")
def test_c34_the_transaction_that_arrives_counts_whatever_hash_was_typed(chain_lab: ChainLab) -> None:
    order = buy()
    payment = order.payment.crypto
    with chain_lab.mining_off():
        nonce = int(chain_lab.anvil.rpc("eth_getTransactionCount", chain_lab.payer, "latest"), 16)
        price = int(chain_lab.anvil.rpc("eth_gasPrice"), 16)
        data = chain_lab.transfer_data(payment.address, payment.due_units)
        hashes = [
            chain_lab.transact(
                {
                    "from": chain_lab.payer,
                    "to": chain_lab.usdc,
                    "data": data,
                    "nonce": hex(nonce),
                    "gasPrice": hex(price * factor),
                }
            )
            for factor in (2, 4)
        ]
        claim(order_id=order.public_id, by="test", transaction_hash=hashes[0])
        watch_all()
        assert view_of(order).received_units == 0  # `pending` is never read
    settle(chain_lab)
    assert view_of(order).status == "settled"
    assert Transfer.objects.get().tx_hash == hashes[1]
