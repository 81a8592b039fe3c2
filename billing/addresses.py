"""EVM addresses without web3: derivation from the account xpub and the EIP-55 check of typed addresses.

The web process uses this module, so it stays free of anything that talks to a chain.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bip_utils import Bip44, Bip44Changes, Bip44Coins, EthAddrDecoder
from bip_utils.utils.crypto import Kekkak256
from django.utils.translation import gettext_lazy as _

from core.errors import Invalid

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

ACCOUNT_DEPTH = 3
INDEX_LIMIT = 2**31  # from here on an index is hardened and cannot be derived from an xpub
ZERO_ADDRESS = "0x" + "0" * 40

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}")
_EXTENDED_PRIVATE = re.compile(r"[a-zA-Z]prv")
_HEX_SECRET = re.compile(r"(0x)?[0-9a-fA-F]{64}(?:[0-9a-fA-F]{64})?")
_WORDS = re.compile(r"\s*[a-z]+(\s+[a-z]+){11,}\s*")


class XpubError(ValueError):
    """The text is not an account-level xpub; the message is one sentence and never repeats the text."""


class Xpub:
    """An account-level extended public key (m/44'/60'/n'), from which deposit addresses are derived.

    Watch-only by construction: private material is refused, so that the server never holds a spending key.
    """

    def __init__(self, text: str) -> None:
        self._external = _account_of(text).Change(Bip44Changes.CHAIN_EXT)
        self._fingerprint = _keccak(text.strip().encode("ascii"))[:16]

    @property
    def fingerprint(self) -> str:
        """16 hex digits that stay the same for the same xpub and tell two of them apart."""
        return self._fingerprint

    def derive(self, index: int) -> str:
        """The deposit address m/44'/60'/n'/0/`index` in EIP-55 form; raises ValueError outside 0..2^31-1."""
        if not 0 <= index < INDEX_LIMIT:
            raise ValueError(f"An address index lies between 0 and {INDEX_LIMIT - 1}, not at {index}.")
        return str(self._external.AddressIndex(index).PublicKey().ToAddress())


def _account_of(text: str) -> Bip44:
    cleaned = text.strip()
    if _EXTENDED_PRIVATE.match(cleaned) or _HEX_SECRET.fullmatch(cleaned) or _WORDS.fullmatch(cleaned):
        raise XpubError("This is a private key: rotate it, and give the account-level xpub instead.")
    try:
        account = Bip44.FromExtendedKey(cleaned, Bip44Coins.ETHEREUM)
    except Exception as error:  # the library raises many unrelated classes for a malformed key
        raise XpubError(
            "This is not an account-level xpub: its form, depth or checksum is wrong (expected m/44'/60'/0')."
        ) from error
    if not account.IsPublicOnly():
        raise XpubError("This is a private key: rotate it, and give the account-level xpub instead.")
    if int(account.Level()) != ACCOUNT_DEPTH:
        raise XpubError("This xpub is not at account level: export the one at m/44'/60'/0'.")
    return account


def normalize_address(text: str, *, field: str | None = None) -> str:
    """The EIP-55 form of a typed address; raises Invalid(code="invalid_address").

    Mixed case must carry the right checksum; an address in one case carries none and is accepted (EIP-55).
    """
    cleaned = text.strip()
    if not _ADDRESS.fullmatch(cleaned):
        raise _refused(_("An address is 0x and 40 characters from 0 to 9 and a to f."), field)
    digits = cleaned[2:]
    checksummed = checksum_address("0x" + digits)
    if checksummed == ZERO_ADDRESS:
        raise _refused(_("The zero address belongs to nobody: what is sent there is lost."), field)
    if digits not in (digits.lower(), digits.upper()) and "0x" + digits != checksummed:
        raise _refused(_("This address contains a typing error: its checksum does not match."), field)
    return checksummed


def checksum_address(address: str) -> str:
    """The EIP-55 form of 0x and 40 hex digits in any case; for answers of a node, not for typed text."""
    digits = address[2:].lower()
    digest = _keccak(digits.encode("ascii"))
    cased = "".join(
        char.upper() if int(nibble, 16) >= 8 else char for char, nibble in zip(digits, digest, strict=False)
    )
    EthAddrDecoder.DecodeAddr("0x" + cased)  # the library has the last word on length, alphabet and case
    return "0x" + cased


def _keccak(data: bytes) -> str:
    return str(Kekkak256.QuickDigest(data).hex())


def _refused(message: _StrPromise, field: str | None) -> Invalid:
    return Invalid(code="invalid_address", message=message, field=field)
