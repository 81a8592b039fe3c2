"""Whether what stands at an address is the token, the Multicall or the price feed that the networks file says."""

from __future__ import annotations

from billing.networks import Asset
from billing.rails import decode
from billing.rails.errors import ChainMismatch, ChainUnreadable, RpcRefused
from billing.rails.facts import Header
from billing.rails.reads import aggregate_data, aggregate_results, contract_call
from billing.rails.rpc import JsonRpc, result_of


def verify_token(endpoint: JsonRpc, asset: Asset, contract: str, head: Header) -> None:
    where = f"{asset.symbol} at {contract}"
    try:
        answers = endpoint.batch(
            [contract_call(contract, data, head) for data in (decode.DECIMALS, decode.SYMBOL)]
        )
        decimals, symbol = (decode.data(result_of(answer)) for answer in answers)
    except RpcRefused as error:
        if is_revert(error):
            raise ChainMismatch(f"{where}: the contract is not a token") from error
        raise
    if decimals == "0x" or symbol == "0x":
        raise ChainMismatch(f"{where}: there is no token contract")
    if int(decimals, 16) != asset.decimals:
        raise ChainMismatch(
            f"{where} has {int(decimals, 16)} decimals, the networks file says {asset.decimals}"
        )
    found = decode.text(symbol)
    if found != asset.symbol:
        raise ChainMismatch(f"{where} calls itself {found!r}")


def verify_multicall(endpoint: JsonRpc, contract: str, head: Header) -> None:
    """Asks it for a balance that the node knows as well."""
    try:
        answer = endpoint.call(
            *contract_call(
                contract,
                aggregate_data([(contract, decode.GET_ETH_BALANCE + decode.address_word(contract))]),
                head,
            )
        )
        [found] = aggregate_results(answer, 1)
    except ChainUnreadable as error:
        if isinstance(error, RpcRefused) and not is_revert(error):
            raise
        raise ChainMismatch(f"{contract} is not a Multicall contract") from error
    if decode.quantity(found) != decode.quantity(
        endpoint.call("eth_getBalance", [contract, hex(head.number)])
    ):
        raise ChainMismatch(f"{contract} is not a Multicall contract")


def is_revert(error: RpcRefused) -> bool:
    return error.code == 3 or "revert" in error.node_message.lower()
