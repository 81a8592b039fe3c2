"""Read what addresses carry on one network, as rows of checks keep it. Worker only; outside any transaction."""

from collections.abc import Sequence
from dataclasses import dataclass

from billing import pool
from billing.models import DepositAddress
from billing.networks import Network
from billing.rails.evm import Chain


@dataclass(frozen=True)
class Found:
    """One look. `dirty`: by address what those carry that are not clean."""

    network: str
    block_number: int
    rows: Sequence[DepositAddress]
    dirty: dict[str, dict[str, object]]

    def keep(self) -> None:
        """Write a check for each; a pooled one with a history is skipped for good."""
        pool.record_checks(
            network=self.network, block_number=self.block_number, dirty=self.dirty, addresses=self.rows
        )


def read_addresses(network: Network, rows: Sequence[DepositAddress]) -> Found:
    """Ask the chain for all of them at its head. Raises ChainError."""
    states = Chain(network).check_addresses([row.address for row in rows])
    return Found(
        network=network.slug,
        block_number=min(state.at.number for state in states.values()),
        rows=rows,
        dirty={
            address: {
                "native_units": str(state.native_units),
                "token_units": {symbol: str(units) for symbol, units in state.token_units.items()},
                "nonce": state.nonce,
                "code_size": state.code_size,
            }
            for address, state in states.items()
            if not state.clean
        },
    )
