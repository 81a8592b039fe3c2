"""Read the transfers of whole blocks, once, for every address ever issued. Worker only.

One cursor per network. It moves over a range only after what the range holds is written, and only where the answer
with the logs carried the header of the range's last block.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import structlog
from django.db import transaction
from django.db.models.functions import Lower

from billing import news
from billing.models import ChainState, PaymentRequest, Transfer
from billing.networks import Network
from billing.rails.evm import Chain
from billing.rails.facts import Header, TransferLog
from billing.rails.logs import Piece, RawLog
from billing.services.apply_facts import note_logs
from billing.services.network_claim import NetworkClaim
from billing.services.odd_payment import report_odd
from billing.services.search import REORG_MARGIN_BLOCKS

log = structlog.get_logger(__name__)

# Machines behind one balancer trail each other by seconds, not by a minute; so far back every round reads again.
OVERLAP_SECONDS = 60
OVERLAP_BLOCKS_AT_LEAST = 5
ADDRESSES_PER_QUERY = 5_000


def read_logs(chain: Chain, state: ChainState, claim: NetworkClaim, *, top: Header) -> set[int]:
    """Write new transfers up to `top` and move the cursor; the payments that they concern, and those that a reorg
    has made doubtful. Raises ChainError: then the cursor stands where the last whole range ended."""
    start, doubtful = _start(chain, state, top)
    concerned = set(doubtful)
    if chain.network.contracts:
        for piece in chain.log_pieces(start=start, top=top):
            claim.renew()
            concerned |= _take(chain, piece, top)
            claim.write(cursor_number=piece.end.number, cursor_hash=piece.end.hash)
    else:
        claim.write(cursor_number=top.number, cursor_hash=top.hash)
    return concerned


def _start(chain: Chain, state: ChainState, top: Header) -> tuple[int, set[int]]:
    """The first block to read, and payments with transfers in blocks that may have been replaced."""
    if state.cursor_number is None:
        return _first_start(chain.network, state, top), set()
    overlap = max(OVERLAP_BLOCKS_AT_LEAST, int(OVERLAP_SECONDS / chain.network.block_seconds))
    start = max(0, min(state.cursor_number + 1 - overlap, top.number))
    fork = _fork(chain, state)
    if fork is None:
        return start, set()
    log.warning("chain_reorganised", network=chain.network.slug, above=fork)
    return max(0, min(start, fork + 1)), news.touched_since(chain.network.chain_id, fork)


def _first_start(network: Network, state: ChainState, top: Header) -> int:
    """A network that is new here begins at its head; one that was watched before logs were read, at the oldest
    block that may hold money for what is open."""
    oldest = (
        news.watched()
        .filter(network=network.slug, view__status__in=news.OPEN)
        .order_by("from_block")
        .values_list("from_block", flat=True)
        .first()
    )
    known = [number for number in (oldest, state.settled_number) if number is not None]
    return min([top.number, *known])


def _fork(chain: Chain, state: ChainState) -> int | None:
    """The newest height that surely is as it was, where the block of the cursor is not; None where it is.

    Stepping back to the settled block is enough unless that changed too.
    """
    known = {state.cursor_number: state.cursor_hash}
    if state.settled_number is not None:
        known[state.settled_number] = state.settled_hash
    heights = [number for number in known if number is not None]
    headers = chain.headers(heights)
    changed = [number for number in heights if headers[number].hash != known[number]]
    if not changed:
        return None
    settled = state.settled_number
    if settled is None or settled in changed:
        return max(0, min(changed) - REORG_MARGIN_BLOCKS)
    return settled


def _take(chain: Chain, piece: Piece, top: Header) -> set[int]:
    """Write what one range holds for us; the payments concerned, those too whose money the operator moved out."""
    payments = _payments_of({address for log in piece.logs for address in (log.recipient, log.sender)})
    left = {payments[log.sender].pk for log in piece.logs if log.sender in payments}
    ours = [log for log in piece.logs if log.recipient in payments]
    unknown = _unknown(chain.network.chain_id, ours, payments)
    if not unknown:
        return left
    by_payment: dict[int, list[TransferLog]] = defaultdict(list)
    rows = {payment.pk: payment for payment in payments.values()}
    for entry in chain.complete(unknown, top=top):
        by_payment[payments[entry.recipient.lower()].pk].append(entry)
    for pk, entries in by_payment.items():
        with report_odd(rows[pk]), transaction.atomic():
            note_logs(rows[pk], chain.network.chain_id, entries)
    return left | set(by_payment)


def _payments_of(addresses: Iterable[str]) -> dict[str, PaymentRequest]:
    """The payments at those addresses, by address in lower case; most addresses are strangers'."""
    wanted = list(addresses)
    found: dict[str, PaymentRequest] = {}
    for start in range(0, len(wanted), ADDRESSES_PER_QUERY):
        rows = (
            news.watched()
            .annotate(place=Lower("address__address"))
            .filter(place__in=wanted[start : start + ADDRESSES_PER_QUERY])
            .select_related("order", "address")
        )
        found |= {payment.crypto.address.lower(): payment for payment in rows}
    return found


def _unknown(chain_id: int, logs: Sequence[RawLog], payments: dict[str, PaymentRequest]) -> list[RawLog]:
    """Logs of transactions that are not written in full: the overlap shows most of them again."""
    if not logs:
        return []
    told = Counter((log.tx_hash, log.block_hash, payments[log.recipient].pk, log.contract) for log in logs)
    rows = Transfer.objects.in_chain().filter(
        chain_id=chain_id, block_number__in={log.block_number for log in logs}
    )
    known = Counter((row.tx_hash, row.block_hash, row.payment_id, row.asset_contract) for row in rows)
    fresh = {key[:2] for key, count in told.items() if known[key] < count}
    return [log for log in logs if (log.tx_hash, log.block_hash) in fresh]
