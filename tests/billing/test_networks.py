"""The networks file: read into frozen values, re-read when it changes, refused with one sentence."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from billing.networks import ConfigError, Settle, load_networks, parse_networks

GOOD = """
[networks.base]
name = "Base"
chain_id = 8453
rpc_urls = ["https://one.example/v2/key", "https://two.example:8443"]
block_seconds = 2
explorer = "https://explorer.example/"
multicall = "0xcA11bde05977b3631167028862bE2a173976CA11"

[networks.base.settle]
mode = "confirmations"
value = 20

[[networks.base.assets]]
symbol = "USDC"
name = "USD Coin"
contract = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
decimals = 6
price = "1"

[[networks.base.assets]]
symbol = "ETH"
name = "Ether"
decimals = 18

[networks.fast]
name = "Fast chain"
chain_id = 42
rpc_urls = ["http://127.0.0.1:8545"]
block_seconds = 0.25
test = true
native_symbol = "FAST"
settle = { mode = "age", value = 900 }

[[networks.fast.assets]]
symbol = "USDT"
name = "Tether"
contract = "0x52908400098527886E0F7030069857D2E4169EE7"
decimals = 6
"""


def test_a_file_becomes_frozen_values() -> None:
    networks = parse_networks(GOOD)
    base, fast = networks["base"], networks["fast"]
    assert list(networks) == ["base", "fast"]
    assert (base.chain_id, base.test, base.explorer) == (8453, False, "https://explorer.example")
    assert base.rpc_urls == ("https://one.example/v2/key", "https://two.example:8443")
    assert (base.settle, fast.settle) == (
        Settle(mode="confirmations", value=20),
        Settle(mode="age", value=900),
    )
    assert base.asset("USDC").contract == "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    assert all(asset.offered for asset in (*base.assets, *fast.assets))
    assert base.asset("USDC").price == fast.asset("USDT").price == Decimal(1)
    assert (base.asset("ETH").contract, base.asset("ETH").price) == (None, None)
    assert (base.native_symbol, fast.native_symbol) == ("ETH", "FAST")
    assert (base.multicall, fast.multicall) == ("0xcA11bde05977b3631167028862bE2a173976CA11", None)
    assert (fast.block_seconds, fast.test, fast.explorer) == (0.25, True, None)
    with pytest.raises(KeyError):
        base.asset("usdc")
    with pytest.raises(dataclasses.FrozenInstanceError):
        base.name = "other"  # type: ignore[misc]


USDC = 'contract = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"'
# what is replaced, by what, and what the sentence must say
REFUSED = {
    "not-toml": ("[networks.base]", "[networks.base", "not TOML"),
    "twice": ("[networks.fast]", "[networks.base]", "not TOML"),
    "top-level": ("[networks.base]", "color = 1\n[networks.base]", "'color' is not known"),
    "unknown-key": ('name = "Base"', 'name = "Base"\nrpc = "x"', "networks.base: the key 'rpc'"),
    "unknown-asset-key": ('price = "1"', "rate = 1", "assets[0]: the key 'rate'"),
    "unknown-settle-key": ("value = 20", "value = 20\ntag = 1", "settle: the key 'tag'"),
    "slug": ("[networks.fast]", '[networks."Fast chain"]', "a slug is"),
    "slug-long": ("[networks.fast]", f"[networks.{'f' * 33}]", "a slug is"),
    "name-empty": ('name = "Base"', 'name = " "', "base.name"),
    "name-control": ('name = "Base"', 'name = "Ba\\u0000se"', "base.name"),
    "name-number": ('name = "Base"', "name = 7", "base.name"),
    "chain-id-text": ("chain_id = 8453", 'chain_id = "8453"', "base.chain_id"),
    "chain-id-true": ("chain_id = 8453", "chain_id = true", "base.chain_id"),
    "chain-id-zero": ("chain_id = 8453", "chain_id = 0", "base.chain_id"),
    "chain-id-missing": ("chain_id = 8453", "", "base.chain_id"),
    "chain-id-shared": ("chain_id = 42", "chain_id = 8453", "base and fast have the same chain id"),
    "urls-empty": ('rpc_urls = ["http://127.0.0.1:8545"]', "rpc_urls = []", "fast.rpc_urls"),
    "urls-text": ('rpc_urls = ["http://127.0.0.1:8545"]', 'rpc_urls = "http://x"', "fast.rpc_urls"),
    "urls-scheme": ("http://127.0.0.1:8545", "ws://127.0.0.1:8545", "fast.rpc_urls"),
    "urls-port": ("http://127.0.0.1:8545", "http://127.0.0.1:99999", "fast.rpc_urls"),
    "urls-bracket": ("http://127.0.0.1:8545", "http://[1", "fast.rpc_urls"),
    "urls-twice": ("https://two.example:8443", "https://one.example/v2/key", "base.rpc_urls"),
    "seconds-zero": ("block_seconds = 0.25", "block_seconds = 0", "fast.block_seconds"),
    "seconds-nan": ("block_seconds = 0.25", "block_seconds = nan", "fast.block_seconds"),
    "seconds-inf": ("block_seconds = 0.25", "block_seconds = inf", "fast.block_seconds"),
    "seconds-true": ("block_seconds = 0.25", "block_seconds = true", "fast.block_seconds"),
    "explorer": ("https://explorer.example/", "javascript:alert(1)", "base.explorer"),
    "multicall": ("0xcA11bde0", "0xCA11bde0", "base.multicall"),
    "test-text": ("test = true", 'test = "yes"', "fast.test"),
    "native-symbol": ('native_symbol = "FAST"', 'native_symbol = "<b>"', "fast.native_symbol"),
    "settle-missing": ('settle = { mode = "age", value = 900 }', "", "fast.settle"),
    "settle-text": ('settle = { mode = "age", value = 900 }', 'settle = "finalized"', "fast.settle"),
    "settle-mode": ('mode = "confirmations"', 'mode = "safe"', "base.settle.mode"),
    "settle-value": ("value = 20", "value = 0", "base.settle.value"),
    "settle-none": ("value = 20", "", "base.settle.value"),
    "settle-extra": ('mode = "confirmations"', 'mode = "finalized"', "base.settle.value"),
    "assets-none": ("[[networks.base.assets]]", "[[networks.base.other]]", "networks.base"),
    "symbol": ('symbol = "USDC"', 'symbol = "USD COIN"', "assets[0].symbol"),
    "symbol-twice": ('symbol = "ETH"', 'symbol = "USDC"', "the same symbol"),
    "contract-twice": ('symbol = "ETH"', f'symbol = "ETH"\n{USDC}', "the same contract"),
    "contract-zero": (USDC, f'contract = "0x{"0" * 40}"', "assets[0].contract"),
    "contract-case": (USDC, USDC.replace("fcd6", "FcD6"), "assets[0].contract"),
    "contract-number": (USDC, "contract = 8", "assets[0].contract"),
    "decimals": ("decimals = 18", "decimals = 37", "assets[1].decimals"),
    "decimals-missing": ("decimals = 18", "", "assets[1].decimals"),
    "offered-text": ('price = "1"', 'offered = "no"', "assets[0].offered"),
    "price-number": ('price = "1"', "price = 1", "assets[0].price"),
    "price-other": ('price = "1"', 'price = "0.99"', "assets[0].price"),
    "price-nan": ('price = "1"', 'price = "NaN"', "assets[0].price"),
    "price-snan": ('price = "1"', 'price = "sNaN"', "assets[0].price"),
    "price-text": ('price = "1"', 'price = "one"', "assets[0].price"),
    "price-native": ("decimals = 18", 'decimals = 18\nprice = "1"', "assets[1].price"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_malformed_file_is_one_sentence_that_names_the_place(case: str) -> None:
    old, new, words = REFUSED[case]
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        parse_networks(GOOD.replace(old, new), source="networks.toml")
    sentence = str(caught.value)
    assert sentence.startswith("networks.toml: ")
    assert words in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "v2/key" not in sentence  # the address of an endpoint may carry a key


@pytest.mark.parametrize("text", ["", "networks = 5", "[networks]", "networks = []", "[networks]\nbase = 1"])
def test_a_file_without_networks_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_networks(text)


def test_the_file_is_read_again_only_when_it_changed(tmp_path: Path) -> None:
    file = tmp_path / "networks.toml"
    file.write_text(GOOD, encoding="utf-8")
    first = load_networks(file)
    stamp = file.stat()
    assert load_networks(str(file))["base"] is first["base"]
    first.clear()  # a caller's dict is his own
    assert set(load_networks(file)) == {"base", "fast"}

    file.write_text(GOOD.replace('"Base"', '"Bass"'), encoding="utf-8")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
    assert load_networks(file)["base"].name == "Bass"

    file.write_text("broken [", encoding="utf-8")
    with pytest.raises(ConfigError, match="not TOML"):
        load_networks(file)


def test_the_web_process_can_use_this_without_web3() -> None:
    script = """
import sys, billing.networks, billing.addresses, billing.rails.errors, billing.rails.facts
print("web3" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read: No such file or directory\.$"):
        load_networks(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_networks(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_networks(tmp_path / "latin.toml")


TIERS = """
[[networks.base.tiers]]
up_to = "500"
mode = "confirmations"
value = 3

[[networks.base.tiers]]
up_to = "2000.50"
mode = "confirmations"
value = 12

[[networks.base.assets]]
symbol = "USDC"
"""


def with_tiers(tiers: str = TIERS) -> str:
    return GOOD.replace('[[networks.base.assets]]\nsymbol = "USDC"\n', tiers.lstrip(), 1)


def test_a_rule_goes_by_the_amount_and_the_strictest_is_for_the_rest() -> None:
    base = parse_networks(with_tiers())["base"]
    values = [
        base.settle_for(Decimal(text)).value for text in ("0.01", "500", "500.01", "2000.50", "2000.51")
    ]
    assert values == [3, 3, 12, 12, 20]
    assert [rule.value for rule in base.rules] == [20, 12, 3]
    assert parse_networks(GOOD)["base"].settle_for(Decimal(1)).value == 20


TIERS_REFUSED = {
    "number": ('up_to = "500"', "up_to = 500", "tiers[0].up_to"),
    "zero": ('up_to = "500"', 'up_to = "0"', "tiers[0].up_to"),
    "nan": ('up_to = "500"', 'up_to = "NaN"', "tiers[0].up_to"),
    "text": ('up_to = "500"', 'up_to = "much"', "tiers[0].up_to"),
    "falling": ('up_to = "500"', 'up_to = "3000"', "larger than the one before"),
    "laxer": ("value = 12", "value = 2", "a laxer rule"),
    "laxer-than-the-rest": ("value = 12", "value = 21", "a laxer rule"),
    "after-finalized": ('mode = "confirmations"\nvalue = 12', 'mode = "finalized"', "a laxer rule"),
    "mode": ('mode = "confirmations"\nvalue = 3', 'mode = "safe"', "tiers[0].mode"),
}


@pytest.mark.parametrize("case", TIERS_REFUSED)
def test_malformed_tiers_are_refused(case: str) -> None:
    old, new, words = TIERS_REFUSED[case]
    text = with_tiers()
    assert old in text
    with pytest.raises(ConfigError) as caught:
        parse_networks(text.replace(old, new, 1))
    assert words in str(caught.value)


FEED = "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419"
OTHER_FEED = "0x52908400098527886E0F7030069857D2E4169EE7"


def with_price(lines: str) -> str:
    return GOOD.replace("decimals = 18", f"decimals = 18\n{lines}")


def test_a_native_coin_takes_two_sources() -> None:
    by_url = parse_networks(
        with_price(
            f'feed = "{FEED}"\nsecond = {{ url = "https://p.example/k/e.json", pointer = "/data/usd" }}'
        )
    )["base"].asset("ETH")
    assert (by_url.feed, by_url.price) == (FEED, None)
    assert by_url.second is not None
    assert by_url.second.name("base") == "p.example/data/usd"  # the path may carry a key
    by_feed = parse_networks(with_price(f'feed = "{FEED}"\nsecond = {{ feed = "{OTHER_FEED}" }}'))["base"]
    second = by_feed.asset("ETH").second
    assert second is not None
    assert second.name("base") == f"base:{OTHER_FEED}"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (f'feed = "{FEED}"', "needed together"),
        (f'second = {{ feed = "{FEED}" }}', "needed together"),
        (f'feed = "{FEED}"\nsecond = {{ feed = "{FEED}" }}', "another feed"),
        (f'feed = "{FEED}"\nsecond = {{ url = "http://p.example/", pointer = "/a" }}', "https://"),
        (f'feed = "{FEED}"\nsecond = {{ url = "https://p.example/", pointer = "a" }}', "pointer"),
        (f'feed = "{FEED}"\nsecond = {{ url = "https://p.example/" }}', "pointer"),
        (f'feed = "{FEED}"\nsecond = 1', "a table"),
        (f'feed = "{FEED}"\nsecond = {{ path = "x" }}', "'path' is not known"),
        ('feed = "0x00"\nsecond = { feed = "0x00" }', "assets[1]"),
    ],
)
def test_malformed_price_sources_are_refused(lines: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_networks(with_price(lines))
    assert words in str(caught.value)


def test_a_token_has_no_feed() -> None:
    text = GOOD.replace('price = "1"', f'feed = "{FEED}"\nsecond = {{ feed = "{OTHER_FEED}" }}', 1)
    with pytest.raises(ConfigError, match="only the native coin"):
        parse_networks(text)


def test_the_example_file_loads() -> None:
    example = Path(__file__).resolve().parents[2] / "docs" / "examples" / "networks.toml"
    networks = load_networks(example)
    assert {slug: network.chain_id for slug, network in networks.items()} == {
        "ethereum": 1,
        "base": 8453,
        "arbitrum": 42161,
        "polygon": 137,
        "bnb": 56,
    }
    assert all(len(network.rpc_urls) >= 2 and network.multicall for network in networks.values())
    assert networks["ethereum"].settle_for(Decimal(500)).mode == "confirmations"
