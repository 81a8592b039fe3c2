"""Explain balances by transfers: which known ones left the chain, and which are new. Worker only, reads only."""

from collections.abc import Iterable, Sequence

from billing.lifecycle import PaymentFlag
from billing.models import PaymentRequest, Transfer
from billing.networks import Asset
from billing.rails.evm import Chain
from billing.rails.facts import Header, Round
from billing.services.apply_facts import HEAD, Found, head_changed, latest_readings

# Where balance and transfers disagree, an endpoint's log index may lag behind its state: look again this far back.
RESCAN_BLOCKS = 1000
# An endpoint that refuses long ranges has a time limit per piece, not for the whole catch-up.
PIECE_BLOCKS = 2000
# Deeper than any reorg that a network in use has seen; a deeper one is found by the search of the next rounds.
REORG_MARGIN_BLOCKS = 100


class Search:
    """One look at a group of payments of one asset; `found` holds the result by payment."""

    def __init__(
        self,
        chain: Chain,
        asset: Asset,
        seen: Round,
        payments: Sequence[PaymentRequest],
        *,
        suspects: frozenset[int] | None = None,
    ) -> None:
        self.chain = chain
        self.asset = asset
        self.seen = seen
        self.payments = payments
        self.active = _active_transfers(payments)
        self.last = latest_readings(payments)
        self.found = {payment.pk: Found() for payment in payments}
        # Transfers that an earlier look missed; without one every miss is a suspicion only.
        self.suspects = suspects
        self._headers: dict[int, Header | None] = {}

    def run(self) -> None:
        """First what is gone, then what is new. Raises ChainError."""
        for payment in self.payments:
            self._find_gone(payment)
        self._find_new()

    @property
    def missing(self) -> frozenset[int]:
        """Keys of transfers whose block this look did not find."""
        return frozenset(row.pk for found in self.found.values() for row in found.gone)

    def _balance(self, payment: PaymentRequest) -> int:
        return self.seen.latest_balances[payment.crypto.address]

    def _known(self, payment: PaymentRequest) -> int:
        gone = {row.pk for row in self.found[payment.pk].gone}
        return sum(row.units for row in self.active[payment.pk] if row.pk not in gone)

    def _find_gone(self, payment: PaymentRequest) -> None:
        """Compare block hashes of transfers above the settled block, and of all where the balance is short."""
        short = self._balance(payment) < self._known(payment) and not self._is_swept(payment)
        for row in self.active[payment.pk]:
            if not short and row.block_number <= self.seen.settled.number:
                continue
            header = self._header(row.block_number)
            agreed = self.suspects is None or row.pk in self.suspects
            if agreed and (header is None or header.hash != row.block_hash):
                self.found[payment.pk].gone.append(row)

    def _header(self, number: int) -> Header | None:
        if number not in self._headers:
            above = number > self.seen.head.number
            self._headers[number] = None if above else self.chain.header(number)
        return self._headers[number]

    def _find_new(self) -> None:
        """Read the logs of the addresses whose balance is not explained by what we know."""
        wanted: dict[str, PaymentRequest] = {}
        start = self.seen.head.number
        for payment in self.payments:
            if self._balance(payment) == self._known(payment) or self._is_swept(payment):
                continue
            wanted[payment.crypto.address] = payment
            start = min(start, max(payment.crypto.from_block, self._search_from(payment)))
        if not wanted:
            return
        for piece in range(start, self.seen.head.number + 1, PIECE_BLOCKS):
            end = min(piece + PIECE_BLOCKS - 1, self.seen.head.number)
            for row in self.chain.transfers(
                asset=self.asset, recipients=list(wanted), from_block=piece, to_block=end
            ):
                payment = wanted[row.recipient]
                if row.block_number >= payment.crypto.from_block:
                    self.found[payment.pk].logs.append(row)

    def _search_from(self, payment: PaymentRequest) -> int:
        """The newest block up to which balance and transfers agreed, less a margin; the recent past where they have
        disagreed before."""
        changed = bool(self.found[payment.pk].gone) or head_changed(
            payment, self._balance(payment), self.last
        )
        if not changed:
            return self.seen.head.number - RESCAN_BLOCKS
        known = self.last.get((payment.pk, HEAD, payment.asset_contract))
        if known is None or known.units != sum(row.units for row in self.active[payment.pk]):
            return 0
        return known.block_number - REORG_MARGIN_BLOCKS

    def _is_swept(self, payment: PaymentRequest) -> bool:
        """Emptied after the money had arrived, and nothing moved since: known, and not worth a search each round."""
        unchanged = not head_changed(payment, self._balance(payment), self.last)
        return PaymentFlag.SWEPT in payment.view.flags and unchanged


def _active_transfers(payments: Iterable[PaymentRequest]) -> dict[int, list[Transfer]]:
    by_payment: dict[int, list[Transfer]] = {payment.pk: [] for payment in payments}
    for row in Transfer.objects.in_chain().filter(payment_id__in=by_payment):
        by_payment[row.payment_id].append(row)
    return by_payment
