"""The demo's chain: prepared once, paid from once per nonce, moved with the clock, never another chain."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from anchorgpu.services.anvil import Anvil
from billing.networks import Asset, Network, load_networks
from billing.rails import local_chain
from billing.rails.errors import ChainUnreadable
from billing.rails.evm import Chain
from tests.chain.endpoints import FaultyEndpoint, Forward, NodeError, Rule
from tests.chain.lab import DUE, ChainLab

pytestmark = pytest.mark.chain
RECIPIENT = "0x58A57ed9d8d624cBD12e2C467D34787555bB1b25"
MakeEndpoint = Callable[[Rule], FaultyEndpoint]


@pytest.fixture
def demo_anvil(tmp_path: Path) -> Iterator[Anvil]:
    """A chain as the demo starts it: with a state file and blocks by time."""
    anvil = Anvil(log_file=tmp_path / "anvil.log", state_file=tmp_path / "anvil.json")
    anvil.start()
    yield anvil
    anvil.stop()


@pytest.fixture
def demo_network(demo_anvil: Anvil, tmp_path: Path) -> Network:
    local_chain.prepare(demo_anvil.url, tmp_path / "networks.toml")
    return load_networks(tmp_path / "networks.toml")["local"]


def test_prepare_makes_a_chain_that_can_be_offered_at_once(demo_anvil: Anvil, demo_network: Network) -> None:
    chain, asset = Chain(demo_network), demo_network.assets[0]
    chain.verify()
    buyer = local_chain.buyer_address(demo_anvil.url)
    first = chain.round(asset=asset, addresses=[buyer])
    assert first.settled_balances == {buyer: 1_000_000 * 10**6}  # settled already, so the pool can be checked
    assert local_chain.buyer_balance(demo_anvil.url, asset) == 1_000_000 * 10**6
    assert (demo_network.chain_id, demo_network.test, demo_network.settle.mode) == (31337, True, "finalized")


def test_prepare_may_be_repeated_and_tops_up(
    demo_anvil: Anvil, demo_network: Network, tmp_path: Path
) -> None:
    asset, file = demo_network.assets[0], tmp_path / "networks.toml"
    stamp = file.stat().st_mtime_ns
    local_chain.send_token(demo_anvil.url, demo_network, asset, RECIPIENT, DUE)
    local_chain.prepare(demo_anvil.url, file)
    assert file.stat().st_mtime_ns == stamp
    assert local_chain.buyer_balance(demo_anvil.url, asset) == 1_000_000 * 10**6
    assert local_chain.next_nonce(demo_anvil.url) == 1


@pytest.mark.parametrize("text", [None, "not toml [", "[networks.other]\nname = 'x'\n"])
def test_a_lost_networks_file_does_not_lose_the_token(
    demo_anvil: Anvil, demo_network: Network, tmp_path: Path, text: str | None
) -> None:
    """A kill between deployment and writing ends here too."""
    file = tmp_path / "networks.toml"
    file.unlink()
    if text is not None:
        file.write_text(text, encoding="utf-8")
    local_chain.prepare(demo_anvil.url, file)
    assert load_networks(file)["local"] == demo_network


def test_a_file_of_an_earlier_chain_gets_a_new_token(demo_anvil: Anvil, tmp_path: Path) -> None:
    file = tmp_path / "networks.toml"
    file.write_text(local_chain.networks_toml(demo_anvil.url, RECIPIENT, RECIPIENT), encoding="utf-8")
    local_chain.prepare(demo_anvil.url, file)
    network = load_networks(file)["local"]
    assert RECIPIENT not in (network.assets[0].contract, network.multicall)
    Chain(network).verify()


def test_prepare_needs_no_settings(demo_anvil: Anvil, tmp_path: Path) -> None:
    """The demo prepares the chain before the settings can load."""
    script = "import sys; from billing.rails.local_chain import prepare; prepare(*sys.argv[1:])"
    file = tmp_path / "networks.toml"
    file.write_text('[networks.local]\nassets = [{ contract = "0x12" }]', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", script, demo_anvil.url, str(file)],
        env={"PATH": ""}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert load_networks(file)["local"].chain_id == 31337


def test_the_same_nonce_pays_once(demo_anvil: Anvil, demo_network: Network) -> None:
    url, asset = demo_anvil.url, demo_network.assets[0]
    nonce = local_chain.next_nonce(url)
    sent = {local_chain.send_token(url, demo_network, asset, RECIPIENT, DUE, nonce) for _ in range(3)}
    assert len(sent) == 1
    again = local_chain.send_token(url, demo_network, asset, RECIPIENT, DUE, nonce)
    assert {again} == sent
    local_chain.move_time(url, local_chain.chain_time(url))
    seen = Chain(demo_network).round(asset=asset, addresses=[RECIPIENT])
    assert seen.settled_balances == {RECIPIENT: DUE}


def test_without_a_nonce_each_call_pays(demo_anvil: Anvil, demo_network: Network) -> None:
    """The control of the test above: it is the nonce that protects."""
    url, asset = demo_anvil.url, demo_network.assets[0]
    for _ in range(2):
        local_chain.send_token(url, demo_network, asset, RECIPIENT, DUE)
    local_chain.move_time(url, local_chain.chain_time(url))
    seen = Chain(demo_network).round(asset=asset, addresses=[RECIPIENT])
    assert seen.settled_balances == {RECIPIENT: 2 * DUE}


def test_a_nonce_that_paid_something_else_is_not_called_sent(
    demo_anvil: Anvil, demo_network: Network
) -> None:
    url, asset = demo_anvil.url, demo_network.assets[0]
    local_chain.send_token(url, demo_network, asset, RECIPIENT, DUE, nonce=0)
    buyer = local_chain.buyer_address(url)
    for recipient, units in ((RECIPIENT, DUE + 1), (buyer, DUE)):
        with pytest.raises(local_chain.LocalChainError, match="has paid something else"):
            local_chain.send_token(url, demo_network, asset, recipient, units, nonce=0)


def test_a_retry_after_a_restart_of_the_node_finds_the_payment(
    demo_anvil: Anvil, demo_network: Network, tmp_path: Path
) -> None:
    """A node that was started from its state file has no history to look the nonce up in."""
    url, asset = demo_anvil.url, demo_network.assets[0]
    sent = local_chain.send_token(url, demo_network, asset, RECIPIENT, DUE, nonce=0)
    local_chain.move_time(url, local_chain.chain_time(url) + timedelta(minutes=1))
    demo_anvil.stop()
    again = Anvil(log_file=tmp_path / "2.log", state_file=tmp_path / "anvil.json")
    again.start()
    try:
        local_chain.prepare(again.url, tmp_path / "networks.toml")
        network = load_networks(tmp_path / "networks.toml")["local"]
        assert network.assets[0] == asset
        assert local_chain.send_token(again.url, network, asset, RECIPIENT, DUE, nonce=0) == sent
        seen = Chain(network).round(asset=asset, addresses=[RECIPIENT])
        assert seen.settled_balances == {RECIPIENT: DUE}
    finally:
        again.stop()


def test_another_run_that_was_faster_is_found(chain_lab: ChainLab, endpoint: MakeEndpoint) -> None:
    """Between our look and our sending the same payment goes out: the node's refusal is not a failure."""
    network, asset, payer = chain_lab.network(), chain_lab.asset(), chain_lab.payer
    nonce = local_chain.next_nonce(chain_lab.anvil.url)
    rivals: list[str] = []

    def faster(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_sendTransaction" and not rivals:
            rivals.append(local_chain.send_token(chain_lab.anvil.url, network, asset, RECIPIENT, DUE, nonce))
        return forward(method, *params)

    sent = local_chain.send_token(endpoint(faster).url, network, asset, RECIPIENT, DUE, nonce)
    assert [sent] == rivals
    assert int(chain_lab.anvil.rpc("eth_getTransactionCount", payer, "latest"), 16) == nonce + 1


def test_a_node_that_refuses_to_pay_says_why(chain_lab: ChainLab, endpoint: MakeEndpoint) -> None:
    def broke(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_sendTransaction":
            raise NodeError(-32003, "insufficient funds")
        return forward(method, *params)

    with pytest.raises(local_chain.LocalChainError, match="insufficient funds"):
        local_chain.send_token(endpoint(broke).url, chain_lab.network(), chain_lab.asset(), RECIPIENT, DUE)


def test_the_native_coin_can_be_sent_too(chain_lab: ChainLab) -> None:
    ether = Asset(symbol="ETH", name="Ether", contract=None, decimals=18, price=None)
    url, network = chain_lab.anvil.url, chain_lab.network()
    nonce = local_chain.next_nonce(url)
    sent = {local_chain.send_token(url, network, ether, RECIPIENT, 7, nonce) for _ in range(2)}
    assert len(sent) == 1
    assert chain_lab.chain().check_address(RECIPIENT).native_units == 7


def test_the_clock_of_the_chain_moves_forward_and_settles(demo_anvil: Anvil, demo_network: Network) -> None:
    url, asset = demo_anvil.url, demo_network.assets[0]
    local_chain.send_token(url, demo_network, asset, RECIPIENT, DUE)
    target = local_chain.chain_time(url) + timedelta(days=2)
    assert local_chain.move_time(url, target) >= target
    assert local_chain.chain_time(url) < target + timedelta(seconds=30)
    chain = Chain(demo_network)
    assert chain.settled().time >= target
    assert chain.round(asset=asset, addresses=[RECIPIENT]).settled_balances == {RECIPIENT: DUE}
    assert local_chain.move_time(url, target - timedelta(days=1)) >= target  # never back


def test_every_door_refuses_another_chain(
    chain_lab: ChainLab, endpoint: MakeEndpoint, tmp_path: Path
) -> None:
    def mainnet(method: str, params: list[Any], forward: Forward) -> Any:
        return "0x1" if method == "eth_chainId" else forward(method, *params)

    url, network, asset = endpoint(mainnet).url, chain_lab.network(), chain_lab.asset()
    doors: list[Callable[[], Any]] = [
        lambda: local_chain.prepare(url, tmp_path / "networks.toml"),
        lambda: local_chain.next_nonce(url),
        lambda: local_chain.send_token(url, network, asset, RECIPIENT, 1, 0),
        lambda: local_chain.send_token(
            chain_lab.anvil.url, chain_lab.network(chain_id=1), asset, RECIPIENT, 1, 0
        ),
        lambda: local_chain.move_time(url, chain_lab.head().time + timedelta(days=1)),
        lambda: local_chain.chain_time(url),
        lambda: local_chain.buyer_balance(url, asset),
        lambda: local_chain.buyer_address(url),
    ]
    before = chain_lab.head()
    for door in doors:
        with pytest.raises(local_chain.LocalChainError, match="31337"):
            door()
    assert chain_lab.head() == before
    assert not (tmp_path / "networks.toml").exists()


def test_no_node_no_file(tmp_path: Path) -> None:
    with pytest.raises(ChainUnreadable):
        local_chain.prepare("http://127.0.0.1:9", tmp_path / "networks.toml")
    assert list(tmp_path.iterdir()) == []


def test_the_command_prepares_and_tells_the_address(
    demo_anvil: Anvil, tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "from-settings.toml"
    settings.EVM_NETWORKS_FILE = str(file)
    call_command("demo_chain", rpc_url=demo_anvil.url)
    asset = load_networks(file)["local"].assets[0]
    assert (asset.price, str(asset.contract) in capsys.readouterr().out) == (Decimal(1), True)
    call_command("demo_chain")  # the address of the node is now in the file
    settings.DEMO = False
    with pytest.raises(CommandError, match="demo"):
        call_command("demo_chain", rpc_url=demo_anvil.url)
    settings.DEMO = True
    with pytest.raises(CommandError, match="no connection"):
        call_command("demo_chain", rpc_url="http://127.0.0.1:9")
