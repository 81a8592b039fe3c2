"""The compiled contracts of the local chain (data/lab.json): honest and dishonest tokens, a wallet, an NFT.

They are compiled once and kept as ABI and bytecode, so that neither demo nor tests need a compiler. Only
chain 31337 ever sees them. The file is the output of solc for: TestToken (ERC-20), FeeToken (takes 1 % away),
FakeToken (emits events, moves nothing), SilentToken (no return values), Wallet (batches, internal calls), Nft
(same topic as an ERC-20 transfer), Multicall, PriceFeed.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from eth_abi.abi import encode
from eth_utils.abi import collapse_if_tuple, function_abi_to_4byte_selector

_FILE = Path(__file__).parent / "data" / "lab.json"


@cache
def _contracts() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return loaded


def creation_data(contract: str, *arguments: Any) -> str:
    """Data of the transaction that creates the contract."""
    entry = _contracts()[contract]
    nothing: dict[str, Any] = {"inputs": []}
    constructor = next((item for item in entry["abi"] if item["type"] == "constructor"), nothing)
    return str(entry["bytecode"]) + encode(_types(constructor), arguments).hex()


def call_data(contract: str, function: str, *arguments: Any) -> str:
    """Data of a call to a function of the contract."""
    item = next(a for a in _contracts()[contract]["abi"] if a["type"] == "function" and a["name"] == function)
    return "0x" + function_abi_to_4byte_selector(item).hex() + encode(_types(item), arguments).hex()


def _types(item: dict[str, Any]) -> list[str]:
    return [collapse_if_tuple(parameter) for parameter in item["inputs"]]
