"""EIP-681 links for wallets: integers only, the chain named, addresses with their checksum (C37).

Wallets that know the form in part take the first address for the recipient, and for a token that is its contract:
so this is never the code that a page shows first.
"""

from billing.models.payments import CryptoPart


def payment_uri(part: CryptoPart, units: int) -> str:
    """The link that asks for `units` base units of the part's asset. Raises ValueError below 1."""
    if units < 1:
        raise ValueError("A payment link asks for at least one base unit.")
    if not part.contract:
        return f"ethereum:{part.address}@{part.chain_id}?value={units}"
    return f"ethereum:{part.contract}@{part.chain_id}/transfer?address={part.address}&uint256={units}"
