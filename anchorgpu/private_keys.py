"""The server never holds a spending key: finds extended private keys and mnemonics in settings."""

import functools
import importlib.util
import re
from pathlib import Path

# BIP-32 private versions of every network and script kind: xprv, yprv, zprv, tprv, uprv, vprv and capitals.
_EXTENDED_PRIVATE = re.compile(r"(?<![1-9A-HJ-NP-Za-km-z])[xyztuvXYZTUV]prv[1-9A-HJ-NP-Za-km-z]{20,}")
_WORD = re.compile(r"[a-z]{3,8}")
# The shortest BIP-39 phrase. Prose does not have twelve words of that list in a row.
_PHRASE_WORDS = 12


@functools.cache
def _bip39_words() -> frozenset[str]:
    package = importlib.util.find_spec("bip_utils")
    if package is None or package.origin is None:  # a locked dependency: only a broken installation lacks it
        raise RuntimeError("bip_utils is not installed")
    file = Path(package.origin).parent / "bip" / "bip39" / "wordlist" / "english.txt"
    return frozenset(file.read_text(encoding="utf-8").split())


def private_key_in(text: str) -> str | None:
    """What kind of private key the text holds, or None. The key itself is never repeated."""
    if _EXTENDED_PRIVATE.search(text):
        return "an extended private key (xprv)"
    return "a mnemonic" if _has_mnemonic(text.lower()) else None


def _has_mnemonic(text: str) -> bool:
    words = re.split(r"[^a-z]+", text)
    if len(words) < _PHRASE_WORDS:
        return False
    known, run = _bip39_words(), 0
    for word in words:
        run = run + 1 if _WORD.fullmatch(word) and word in known else 0
        if run >= _PHRASE_WORDS:
            return True
    return False
