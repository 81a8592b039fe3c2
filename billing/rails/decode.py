"""Strict reading of a node's answers: what has not the expected form is ChainUnreadable, never a crash."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from eth_abi.abi import decode as abi_decode
from eth_abi.exceptions import DecodingError

from billing.rails.errors import ChainUnreadable
from billing.rails.facts import Header

TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
BALANCE_OF = "0x70a08231"
DECIMALS = "0x313ce567"
SYMBOL = "0x95d89b41"
GET_ETH_BALANCE = "0x4d2301cc"  # of Multicall3
AGGREGATE3 = "0x82ad56cb"

_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}")
_WORD = re.compile(r"0x[0-9a-fA-F]{64}")
_ADDRESS_WORD = re.compile(r"0x0{24}[0-9a-fA-F]{40}")
_DATA = re.compile(r"0x(?:[0-9a-fA-F]{2})*")


def quantity(value: Any) -> int:
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise ChainUnreadable("a number in the answer has no usable form")
    return int(value, 16)


def word(value: Any) -> str:
    """32 bytes as 0x and 64 small hex digits: a hash, a topic or one ABI word."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise ChainUnreadable("a hash in the answer has no usable form")
    return value.lower()


def data(value: Any) -> str:
    if not isinstance(value, str) or not _DATA.fullmatch(value):
        raise ChainUnreadable("data in the answer have no usable form")
    return value.lower()


def header(block: Any, *, number: int | None = None) -> Header:
    """The header of a block object; an unknown block and another height than asked are ChainUnreadable."""
    if not isinstance(block, dict):
        asked = "" if number is None else f" {number}"
        raise ChainUnreadable(f"the node does not have block{asked}")
    found = quantity(block.get("number"))
    if number is not None and found != number:
        raise ChainUnreadable(f"the node answered with block {found} for block {number}")
    try:
        moment = datetime.fromtimestamp(quantity(block.get("timestamp")), tz=UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise ChainUnreadable("a block time in the answer has no usable form") from error
    return Header(number=found, hash=word(block.get("hash")), time=moment)


def raw_address(topic: str) -> str | None:
    """The lower-case address in an indexed topic, or None where the word holds no address."""
    return "0x" + topic[26:] if _ADDRESS_WORD.fullmatch(topic) else None


def address_word(address: str) -> str:
    """The address as an ABI word without 0x."""
    return address[2:].lower().rjust(64, "0")


def text(value: str) -> str | None:
    """A string result; also the bytes32 form of the first tokens. None where it is neither."""
    raw = bytes.fromhex(value[2:])
    try:
        decoded = raw.rstrip(b"\0").decode() if len(raw) == 32 else abi_decode(["string"], raw)[0]
    except (DecodingError, UnicodeDecodeError, OverflowError, ValueError):
        return None
    return str(decoded)
