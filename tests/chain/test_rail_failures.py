"""Endpoints that lag, lie, hang or break off: nothing is concluded from them, and nobody waits for long."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from billing.rails.errors import ChainError, ChainMismatch, ChainMoved, ChainUnreadable
from billing.rails.evm import Chain
from tests.chain.endpoints import FaultyEndpoint, Forward, NodeError, Raw, RawServer, Rule
from tests.chain.lab import DUE, ChainLab

pytestmark = pytest.mark.chain
MakeEndpoint = Callable[[Rule], FaultyEndpoint]
LAG = 20


def lagging(chain_lab: ChainLab, *, only_logs: bool = False) -> Rule:
    """A balancer: the head comes from a fresh machine, the rest from one that is 20 blocks behind."""
    behind = chain_lab.head().number - LAG

    def rule(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_getLogs":
            query = dict(params[0])
            if int(query["fromBlock"], 16) > behind:
                return []
            query["toBlock"] = hex(min(int(query["toBlock"], 16), behind))
            return forward(method, query)
        if method == "eth_getBlockByNumber" and params[0] != "latest" and not only_logs:
            return None if _height(params[0]) > behind else forward(method, *params)
        return forward(method, *params)

    return rule


def _height(tag: str) -> int:
    return int(tag, 16) if tag.startswith("0x") else -1


def test_c28_logs_of_a_lagging_machine_are_not_taken_for_none(
    chain_lab: ChainLab, endpoint: MakeEndpoint
) -> None:
    address = chain_lab.address(1)
    chain_lab.mine(30)
    chain_lab.pay(address, DUE)
    chain_lab.mine(10)  # the payment lies between the machine's head and the true one
    head = chain_lab.head().number
    chain, asset = chain_lab.chain(endpoint(lagging(chain_lab)).url), chain_lab.asset()
    assert chain.head().number == head  # the fresh machine does answer

    with pytest.raises(ChainUnreadable, match=f"does not have block {head}"):
        chain.transfers(asset=asset, recipients=[address], from_block=0, to_block=head)
    with pytest.raises(ChainUnreadable, match="does not have block"):
        chain.round(asset=asset, addresses=[address])
    # What the machine has seen may be read, and the rest is found when it has caught up.
    assert chain.transfers(asset=asset, recipients=[address], from_block=0, to_block=head - LAG) == []
    [found] = chain_lab.chain().transfers(
        asset=asset, recipients=[address], from_block=head - LAG + 1, to_block=head
    )
    assert found.units == DUE


def test_c28_where_only_the_logs_lag_the_balance_still_tells(
    chain_lab: ChainLab, endpoint: MakeEndpoint
) -> None:
    """No header betrays this machine: the sum of logs falls short of the balance, which decides."""
    address = chain_lab.address(1)
    chain_lab.mine(30)
    chain_lab.pay(address, DUE)
    chain = chain_lab.chain(endpoint(lagging(chain_lab, only_logs=True)).url)
    head = chain.head().number
    asset = chain_lab.asset()
    assert chain.transfers(asset=asset, recipients=[address], from_block=0, to_block=head) == []
    assert chain.round(asset=asset, addresses=[address]).latest_balances == {address: DUE}


def test_c28_a_finalized_block_above_the_head_is_two_machines(
    chain_lab: ChainLab, endpoint: MakeEndpoint
) -> None:
    def stale_head(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_getBlockByNumber" and params[0] == "latest":
            return forward(method, "0x2", False)
        return forward(method, *params)

    chain_lab.mine(10)
    with pytest.raises(ChainMoved):
        chain_lab.chain(endpoint(stale_head).url).settled()


def test_asking_ahead_of_the_head_is_unreadable(chain_lab: ChainLab) -> None:
    chain, asset, address = chain_lab.chain(), chain_lab.asset(), chain_lab.address(1)
    ahead = chain.head().number + 1
    with pytest.raises(ChainUnreadable):
        chain.header(ahead)
    with pytest.raises(ChainUnreadable):
        chain.transfers(asset=asset, recipients=[address], from_block=0, to_block=ahead)


def _fork_of(number: int) -> Rule:
    def rule(method: str, params: list[Any], forward: Forward) -> Any:
        answer = forward(method, *params)
        if method == "eth_getBlockByNumber" and int(answer["number"], 16) == number:
            answer["hash"] = "0x" + "ab" * 32
        return answer

    return rule


def _slow_head(blocks: int) -> Rule:
    def rule(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_getBlockByNumber" and params[0] == "latest":
            params = [hex(int(forward("eth_blockNumber"), 16) - blocks), False]
        return forward(method, *params)

    return rule


def _richer(method: str, params: list[Any], forward: Forward) -> Any:
    if method == "eth_call":
        return f"0x{DUE:064x}"
    return forward(method, *params)


def _silent(method: str, params: list[Any], forward: Forward) -> Any:
    raise Raw(503, b"")


def test_endpoints_that_disagree_settle_nothing(chain_lab: ChainLab, endpoint: MakeEndpoint) -> None:
    asset, address = chain_lab.asset(), chain_lab.address(1)
    chain_lab.mine(120)
    first = chain_lab.anvil.url
    settled = chain_lab.chain().settled()
    rules = {
        "about block": _fork_of(settled.number),
        "about the head": _slow_head(31),
        "about a settled balance": _richer,
        "HTTP 503": _silent,
    }
    for reason, rule in rules.items():
        chain = chain_lab.chain(first, endpoint(rule).url)
        with pytest.raises(ChainUnreadable, match=reason):
            chain.round(asset=asset, addresses=[address])

    agreeing = chain_lab.chain(first, endpoint(_slow_head(30)).url)
    assert agreeing.round(asset=asset, addresses=[address]).settled == settled


def _replies(status: int, body: bytes) -> Rule:
    def rule(method: str, params: list[Any], forward: Forward) -> Any:
        raise Raw(status, body)

    return rule


def _node_error(method: str, params: list[Any], forward: Forward) -> Any:
    raise NodeError(-32005, "daily request count exceeded")


def _result(value: Any) -> Rule:
    def rule(method: str, params: list[Any], forward: Forward) -> Any:
        return value if method == "eth_getBlockByNumber" else forward(method, *params)

    return rule


BLOCK = {"number": "0x1", "hash": "0x" + "1" * 64, "timestamp": "0x1"}
NONSENSE: dict[str, Rule] = {
    "429": _replies(429, b"slow down"),
    "401": _replies(401, b"no key"),
    "500": _replies(500, b""),
    "redirect": _replies(302, b""),
    "200-with-a-page": _replies(200, b"<html>maintenance</html>"),
    "not-utf-8": _replies(200, b"\xff\xfe\x00"),
    "empty": _replies(200, b""),
    "null": _replies(200, b"null"),
    "text": _replies(200, b'"yes"'),
    "number": _replies(200, b"7"),
    "empty-list": _replies(200, b"[]"),
    "list-of-nothing": _replies(200, b"[null, null]"),
    "one-answer-for-two": _replies(200, b'[{"jsonrpc":"2.0","id":1,"result":"0x7a69"}]'),
    "same-id-twice": _replies(200, b'[{"id":1,"result":"0x7a69"},{"id":1,"result":{}}]'),
    "mixed-ids": _replies(200, b'[{"id":1,"result":"0x7a69"},{"id":"a","result":{}}]'),
    "no-ids": _replies(200, b'[{"result":"0x7a69"},{"result":{}}]'),
    "batch-refused": _replies(
        200, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}'
    ),
    "error-is-text": _replies(200, b'[{"id":1,"error":"broken"},{"id":2,"error":"broken"}]'),
    "deep": _replies(200, b"[" * 100_000),
    "huge-number": _replies(200, b"1" * 10_000),
    "node-error": _node_error,
    "block-null": _result(None),
    "block-text": _result("0x1"),
    "block-without-hash": _result({**BLOCK, "hash": None}),
    "block-short-hash": _result({**BLOCK, "hash": "0x12"}),
    "block-number-int": _result({**BLOCK, "number": 1}),
    "block-number-negative": _result({**BLOCK, "number": "-0x1"}),
    "block-time-beyond-calendars": _result({**BLOCK, "timestamp": "0x" + "f" * 60}),
}


@pytest.mark.filterwarnings("ignore:Received batch response with missing")
@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_is_unreadable_and_its_text_bounded(
    chain_lab: ChainLab, endpoint: MakeEndpoint, case: str
) -> None:
    chain = chain_lab.chain(endpoint(NONSENSE[case]).url)
    for read in (chain.head, chain.settled, chain.verify):
        with pytest.raises(ChainUnreadable) as caught:
            read()
        assert 0 < len(caught.value.reason) <= 160
        assert "secret-key" not in str(caught.value)  # the path of an endpoint may carry one


def test_a_connection_refused_is_unreadable_at_once(chain_lab: ChainLab) -> None:
    began = time.monotonic()
    with pytest.raises(ChainUnreadable, match="no connection"):
        chain_lab.chain("http://127.0.0.1:9").head()
    assert time.monotonic() - began < 1


def _hang(connection: socket.socket, stopped: threading.Event) -> None:
    stopped.wait(30)


def _trickle(connection: socket.socket, stopped: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not stopped.wait(0.2):
        connection.sendall(b" ")


def _trickle_in_chunks(connection: socket.socket, stopped: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not stopped.wait(0.2):
        connection.sendall(b"1\r\n \r\n")


def _stop_midway(connection: socket.socket, stopped: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[")
    stopped.wait(30)


def _break_off(connection: socket.socket, stopped: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[")


@pytest.fixture
def raw_server() -> Iterator[Callable[..., RawServer]]:
    made: list[RawServer] = []

    def make(behave: Callable[[socket.socket, threading.Event], None]) -> RawServer:
        made.append(RawServer(behave))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize(
    "behave", [_hang, _trickle, _trickle_in_chunks, _stop_midway, _break_off], ids=lambda f: f.__name__[1:]
)
def test_a_hung_server_costs_bounded_time(
    chain_lab: ChainLab, raw_server: Callable[..., RawServer], behave: Any
) -> None:
    chain = chain_lab.chain(raw_server(behave).url, timeout_seconds=1.0)
    began = time.monotonic()
    with pytest.raises(ChainUnreadable):
        chain.head()
    assert time.monotonic() - began < 2.5


def test_a_hung_server_with_the_time_limit_of_the_product(
    chain_lab: ChainLab, raw_server: Callable[..., RawServer]
) -> None:
    began = time.monotonic()
    with pytest.raises(ChainUnreadable, match="no answer in time"):
        Chain(chain_lab.network(urls=[raw_server(_hang).url])).head()
    assert 4 < time.monotonic() - began < 6.5


def test_one_endless_answer_is_cut_off(chain_lab: ChainLab, raw_server: Callable[..., RawServer]) -> None:
    def endless(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while not stopped.is_set():
            connection.sendall(b" " * 1_000_000)

    with pytest.raises(ChainUnreadable, match="too large"):
        chain_lab.chain(raw_server(endless).url).head()


def test_loading_the_rail_leaves_the_recursion_limit_low() -> None:
    """A library below web3 raises it to 100,000: deep JSON from anywhere would then end the process."""
    script = """
import json, billing.rails.evm
try:
    json.loads("[" * 100_000)
except RecursionError:
    print("refused")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout.strip()) == (0, "refused")


def test_a_network_that_differs_from_the_file_is_a_mismatch(
    chain_lab: ChainLab, endpoint: MakeEndpoint
) -> None:
    chain_lab.chain().verify()
    with pytest.raises(ChainMismatch, match="serves chain 31337, the networks file says 1"):
        Chain(chain_lab.network(chain_id=1)).verify()
    wrong = {
        "decimals": chain_lab.deploy("TestToken", "USD Coin", "USDC", 18, 1),
        "calls itself": chain_lab.deploy("TestToken", "USD Coin", "USDT", 6, 1),
        "no token contract": chain_lab.address(4),
        "is not a token": chain_lab.nft,
    }
    for reason, contract in wrong.items():
        network = chain_lab.network()
        changed = type(network)(**{**vars(network), "assets": (chain_lab.asset(contract),)})
        with pytest.raises(ChainMismatch, match=reason):
            Chain(changed).verify()


def test_another_chain_behind_the_second_endpoint_is_a_mismatch(
    chain_lab: ChainLab, endpoint: MakeEndpoint
) -> None:
    def other(method: str, params: list[Any], forward: Forward) -> Any:
        return "0x1" if method == "eth_chainId" else forward(method, *params)

    chain = chain_lab.chain(chain_lab.anvil.url, endpoint(other).url)
    for read in (chain.verify, chain.settled):
        with pytest.raises(ChainMismatch):
            read()


def test_every_failure_is_a_chain_error() -> None:
    assert all(issubclass(kind, ChainError) for kind in (ChainUnreadable, ChainMoved, ChainMismatch))
