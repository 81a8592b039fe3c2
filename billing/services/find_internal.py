"""Find the blocks in which a native balance grew. A coin may come by an internal call, without a log and without a
transaction that names us (C22): the state alone tells, so its history is bisected. Worker only, reads only."""

from collections.abc import Callable, Iterator

from billing.rails.errors import ChainMoved
from billing.rails.evm import Chain
from billing.rails.facts import Header, TransferLog

# More arrivals at one address between two looks are found in the next rounds.
MAX_FOUND = 16


def find_internal(chain: Chain, address: str, *, start: int, head: Header) -> list[TransferLog]:
    """Arrivals after block `start` up to `head`, oldest first, one per block. Raises ChainError.

    Costs about log2 of the range in calls for each arrival, of state that must still be there: an endpoint without
    it answers ChainUnreadable, and the payment waits.
    """
    found = list(increases(lambda number: chain.native_balance(address, number), low=start, high=head.number))
    headers = chain.headers([head.number, *(number for number, _units in found)])
    if headers[head.number].hash != head.hash:
        raise ChainMoved(f"block {head.number} changed while a balance was searched")
    return [
        TransferLog(
            contract="",
            tx_hash="",
            ordinal_in_tx=0,
            block_number=number,
            block_hash=headers[number].hash,
            block_time=headers[number].time,
            sender="",
            recipient=address,
            units=units,
        )
        for number, units in found
    ]


def increases(
    balance_at: Callable[[int], int], *, low: int, high: int, most: int = MAX_FOUND
) -> Iterator[tuple[int, int]]:
    """Blocks in (low, high] in which the balance is higher than in the one before, each with the difference.

    Assumes that a balance which is equal at two blocks did not change in between: what came and went again within
    one look is nothing that is left to count.
    """
    units, last = balance_at(low), balance_at(high)
    while units != last and most > 0:
        below, above, changed = low, high, last
        while above - below > 1:
            middle = (below + above) // 2
            here = balance_at(middle)
            if here == units:
                below = middle
            else:
                above, changed = middle, here
        if changed > units:
            yield above, changed - units
            most -= 1
        low, units = above, changed
