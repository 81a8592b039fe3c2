"""What a coin costs, from a feed on the chain and from a JSON document. Nonsense is ChainUnreadable, never a price."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import requests

from billing.rails import decode
from billing.rails.errors import ChainUnreadable
from billing.rails.facts import Header
from billing.rails.reads import contract_call
from billing.rails.rpc import BoundedSession, JsonRpc, result_of

FETCH_SECONDS = 5.0  # a price page answers at once; the worker reads it again in a minute
MAX_PAGE_BYTES = 256 * 1024
MAX_DIGITS = 40  # of a number in a document: more is no price
LATEST_ROUND = "0xfeaf968c"  # latestRoundData(), of Chainlink's aggregators
_WORDS = 5


@dataclass(frozen=True, kw_only=True)
class Quote:
    """A price as its source says it, not judged yet; `at` None where the source gives no time."""

    price: Decimal
    at: datetime | None


def read_feed(rpc: JsonRpc, contract: str, *, at: Header) -> Quote:
    """The newest answer of an on-chain feed at a block."""
    answers = rpc.batch([contract_call(contract, data, at) for data in (decode.DECIMALS, LATEST_ROUND)])
    places, round_data = (decode.data(result_of(answer)) for answer in answers)
    if len(places) != 66 or len(round_data) != 2 + 64 * _WORDS:
        raise ChainUnreadable(f"{contract} is not a price feed")
    decimals, words = int(places, 16), bytes.fromhex(round_data[2:])
    if decimals > 36:
        raise ChainUnreadable(f"{contract} is not a price feed")
    answer = int.from_bytes(words[32:64], "big", signed=True)
    updated = int.from_bytes(words[96:128], "big")
    try:
        moment = datetime.fromtimestamp(updated, tz=UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise ChainUnreadable(f"the time of {contract} has no usable form") from error
    return Quote(price=Decimal(answer).scaleb(-decimals), at=moment)


def read_page(url: str, pointer: str) -> Quote:
    """The number at a JSON pointer of a document. No redirects; bounded in time and size; a page that is no JSON
    (an error page with status 200) is refused."""
    session = BoundedSession(FETCH_SECONDS, max_bytes=MAX_PAGE_BYTES)
    try:
        response = session.get(url, headers={"Accept": "application/json"})
    except requests.RequestException as error:
        raise ChainUnreadable("the price page gave no answer") from error
    finally:
        session.close()
    if response.status_code != requests.codes.ok:
        raise ChainUnreadable(f"the price page answered HTTP {response.status_code}")
    try:
        document = json.loads(response.content, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, RecursionError, InvalidOperation) as error:
        raise ChainUnreadable("the price page is not JSON") from error
    return Quote(price=_number(_at(document, pointer)), at=None)


def _refuse(name: str) -> Decimal:
    raise ValueError(f"{name} is no price")


def _at(document: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        if isinstance(document, list) and part.isdigit() and int(part) < len(document):
            document = document[int(part)]
        elif isinstance(document, dict) and part in document:
            document = document[part]
        else:
            raise ChainUnreadable("the price page has nothing at the pointer")
    return document


def _number(value: Any) -> Decimal:
    """A number, or one as text; true is no number."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise ChainUnreadable("the price page has no number at the pointer")
    try:
        number = Decimal(value)
    except InvalidOperation as error:
        raise ChainUnreadable("the price page has no number at the pointer") from error
    if not number.is_finite() or len(number.as_tuple().digits) > MAX_DIGITS or _is_far(number):
        raise ChainUnreadable("the number of the price page has no usable size")
    return number


def _is_far(number: Decimal) -> bool:
    return number != 0 and abs(number.adjusted()) > MAX_DIGITS
