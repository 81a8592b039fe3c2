"""Explain balances by transfers: which known ones left the chain, and which are new. Worker only, reads only.

The logs of whole blocks (read_logs) find nearly all; this is for what they did not explain: an endpoint whose log
index lags behind its state, a round that was killed, the native coin, which has no logs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from billing.chain_facts import HEAD, latest_readings
from billing.lifecycle import PaymentFlag
from billing.models import PaymentRequest, Transfer
from billing.rails.evm import Chain
from billing.rails.facts import Header, Holdings, TransferLog
from billing.services.apply_facts import Found, head_changed, is_older_than_order
from billing.services.find_internal import find_internal

# Where balance and transfers disagree, an endpoint's log index may lag behind its state: look again this far back.
RESCAN_BLOCKS = 1000
RESCAN_SECONDS = 3600
# An endpoint that refuses long ranges has a time limit per piece, not for the whole catch-up.
PIECE_BLOCKS = 2000
# Deeper than any reorg that a network in use has seen; a deeper one is found by the search of the next rounds.
REORG_MARGIN_BLOCKS = 100


class Search:
    """One look at a group of payments on one network; `found` holds the result by payment."""

    def __init__(
        self,
        chain: Chain,
        held: Holdings,
        payments: Sequence[PaymentRequest],
        *,
        renew: Callable[[], None],
        suspects: frozenset[int] | None = None,
    ) -> None:
        self.chain = chain
        self.chain_id = chain.network.chain_id
        self.held = held
        self.payments = payments
        self.active = _active_transfers(payments, self.chain_id)
        self.last = latest_readings(payments)
        self.found = {payment.pk: Found() for payment in payments}
        # Transfers that an earlier look missed; without one every miss is a suspicion only.
        self.suspects = suspects
        self._renew = renew
        self._headers: Mapping[int, Header] = {}

    def run(self) -> None:
        """First what is gone, then what is new. Raises ChainError."""
        self._read_headers()
        for payment in self.payments:
            self._find_gone(payment)
        for asset in self.chain.network.assets:
            if asset.contract is not None:
                self._find_logs(asset.contract)
        for payment in self.payments:
            if self._is_own(payment, "") and self._is_unexplained(payment, ""):
                self._find_internal(payment)

    @property
    def missing(self) -> frozenset[int]:
        """Keys of transfers whose block this look did not find."""
        return frozenset(row.pk for found in self.found.values() for row in found.gone)

    def _balance(self, payment: PaymentRequest, contract: str) -> int:
        return self.held.at_head[contract][payment.crypto.address]

    def _known(self, payment: PaymentRequest, contract: str) -> int:
        gone = {row.pk for row in self.found[payment.pk].gone}
        rows = self._rows(payment, contract)
        return sum(row.units for row in rows if row.pk not in gone)

    def _rows(self, payment: PaymentRequest, contract: str) -> list[Transfer]:
        return [row for row in self.active[payment.pk] if row.asset_contract == contract]

    def _is_own(self, payment: PaymentRequest, contract: str) -> bool:
        return (payment.chain_id, payment.asset_contract) == (self.chain_id, contract)

    def _suspicious(self, payment: PaymentRequest) -> list[Transfer]:
        """Transfers above the settled block, and all of an asset whose balance is short."""
        return [
            row
            for row in self.active[payment.pk]
            if row.block_number > self.held.settled.number or self._is_short(payment, row.asset_contract)
        ]

    def _is_short(self, payment: PaymentRequest, contract: str) -> bool:
        if contract not in self.held.at_head or self._is_swept(payment, contract):
            return False
        known: int = sum(row.units for row in self._rows(payment, contract))
        return self._balance(payment, contract) < known

    def _read_headers(self) -> None:
        """Of all blocks that have to be compared, at once; a block above the head is not there."""
        numbers = [row.block_number for payment in self.payments for row in self._suspicious(payment)]
        self._headers = self.chain.headers([n for n in numbers if n <= self.held.head.number])

    def _find_gone(self, payment: PaymentRequest) -> None:
        for row in self._suspicious(payment):
            header = self._headers.get(row.block_number)
            agreed = self.suspects is None or row.pk in self.suspects
            if agreed and (header is None or header.hash != row.block_hash):
                self.found[payment.pk].gone.append(row)

    def _is_unexplained(self, payment: PaymentRequest, contract: str) -> bool:
        balance, known = self._balance(payment, contract), self._known(payment, contract)
        if balance == known or self._is_swept(payment, contract):
            return False
        # Less than the transfers say is for the asked asset to explain; of another one it was moved on.
        return balance > known or self._is_own(payment, contract)

    def _find_logs(self, contract: str) -> None:
        """Read the logs of the addresses whose balance is not explained by what we know. Those whose balance is new
        share a range up to the head; what has disagreed before is looked for around its own block."""
        fresh: dict[str, PaymentRequest] = {}
        start = head = self.held.head.number
        for payment in self.payments:
            if not self._is_unexplained(payment, contract):
                continue
            known = self.last.get((payment.pk, self.chain_id, HEAD, contract))
            if known is not None and not self._is_changed(payment, contract):
                span = self._rescan_blocks
                first = max(payment.crypto.from_block, known.block_number - span)
                self._read_range(contract, {payment.crypto.address: payment}, first, known.block_number)
                continue
            fresh[payment.crypto.address] = payment
            start = min(start, self._search_from(payment, contract))
        if fresh:
            self._read_range(contract, fresh, start, head)

    def _read_range(self, contract: str, wanted: Mapping[str, PaymentRequest], start: int, end: int) -> None:
        asset = self.chain.network.asset_of(contract)
        if asset is None:
            return
        for piece in range(max(start, 0), end + 1, PIECE_BLOCKS):
            self._renew()
            for row in self.chain.transfers(
                asset=asset,
                recipients=list(wanted),
                from_block=piece,
                to_block=min(piece + PIECE_BLOCKS - 1, end),
            ):
                self._keep(wanted[row.recipient], row)

    def _keep(self, payment: PaymentRequest, row: TransferLog) -> None:
        if not is_older_than_order(payment, self.chain_id, row):
            self.found[payment.pk].logs.append(row)

    @property
    def _rescan_blocks(self) -> int:
        """What a hold lasts, at least: the money came after the order and before its balance was seen."""
        return max(RESCAN_BLOCKS, int(RESCAN_SECONDS / self.chain.network.block_seconds))

    def _is_changed(self, payment: PaymentRequest, contract: str) -> bool:
        balance = self._balance(payment, contract)
        return bool(self.found[payment.pk].gone) or head_changed(
            payment, self.chain_id, contract, balance, self.last
        )

    def _search_from(self, payment: PaymentRequest, contract: str) -> int:
        """The newest block up to which balance and transfers agreed, less a margin; the recent past where nothing is
        known and on networks that nobody was asked to pay on."""
        recent = self.held.head.number - self._rescan_blocks
        if not self._is_changed(payment, contract) or payment.chain_id != self.chain_id:
            return recent
        first = payment.crypto.from_block
        known = self.last.get((payment.pk, self.chain_id, HEAD, contract))
        if known is None or known.units != sum(row.units for row in self._rows(payment, contract)):
            return first
        return max(first, known.block_number - REORG_MARGIN_BLOCKS)

    def _find_internal(self, payment: PaymentRequest) -> None:
        self._renew()
        start = max(payment.crypto.from_block - 1, self._search_from(payment, "") - 1, 0)
        for row in find_internal(self.chain, payment.crypto.address, start=start, head=self.held.head):
            self._keep(payment, row)

    def _is_swept(self, payment: PaymentRequest, contract: str) -> bool:
        """Emptied after the money had arrived, and nothing moved since: known, and not worth a search each round."""
        if self._is_leaving(payment, contract):
            return True
        unchanged = not head_changed(
            payment, self.chain_id, contract, self._balance(payment, contract), self.last
        )
        return unchanged and bool(
            not self._is_own(payment, contract) or PaymentFlag.SWEPT in payment.view.flags
        )

    def _is_leaving(self, payment: PaymentRequest, contract: str) -> bool:
        """All of it is there and explained at the settled block, and the head shows less: moved out since."""
        if not contract:
            return False
        settled = self.held.at_settled[contract][payment.crypto.address]
        final = self.held.settled.number
        known: int = sum(row.units for row in self._rows(payment, contract) if row.block_number <= final)
        return self._balance(payment, contract) < settled == known


def _active_transfers(payments: Iterable[PaymentRequest], chain_id: int) -> dict[int, list[Transfer]]:
    by_payment: dict[int, list[Transfer]] = {payment.pk: [] for payment in payments}
    for row in Transfer.objects.in_chain().filter(payment_id__in=by_payment, chain_id=chain_id):
        by_payment[row.payment_id].append(row)
    return by_payment
