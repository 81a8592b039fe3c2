"""Check a quote without the shop: `python -m orders.verify_quote FILE [--keys KEYS]`.

Stands alone: no settings, no database, no network; the standard library, `cryptography` and `rfc8785`. Whoever doubts
us reads this file and copies it.

FILE is the answer of `POST quotes` or `GET quotes/{id}` as it was saved; or, with --signature, the bare document.
KEYS is a saved copy of /.well-known/anchorgpu/quote-keys.json; without it, quote-keys.json beside FILE.
Exit code: 0 genuine, 1 not genuine, 2 it cannot be told (a file that cannot be read, a key that KEYS does not have).
"""

import argparse
import base64
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

TYPE = "anchorgpu.quote.v1"
GENUINE, NOT_GENUINE, UNKNOWN = 0, 1, 2
KEYS_NAME = "quote-keys.json"
# What the answer says beside the document, and the document does not hold.
_OUTSIDE = frozenset({"document", "signature", "key_id", "status"})

Key = Mapping[str, Any]


class CannotTell(Exception):
    """Something is missing; nothing is said about the quote."""


class NotGenuine(Exception):
    """The shop did not promise this."""


@dataclass(frozen=True)
class Saved:
    """What is to be checked. `key_id` None: any key of the set may have signed. `told`: the answer's other fields."""

    document: str
    signature: str
    key_id: str | None
    told: Mapping[str, Any]


def is_signed_by(key: Key, *, document: str, signature: str) -> bool:
    """Whether this key signed exactly these bytes. `signature` is base64, `x` of the key base64url."""
    try:
        raw = base64.b64decode(signature, validate=True)
        public = Ed25519PublicKey.from_public_bytes(_unpad(key["x"]))
        public.verify(raw, document.encode("utf-8"))
    except (InvalidSignature, ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def verify(saved: Saved, keys: Sequence[Key]) -> tuple[dict[str, Any], str]:
    """What was promised, and the id of the key that signed it. Raises NotGenuine, CannotTell."""
    signer = _signer(saved, keys)
    promised = _parsed(saved.document)
    if promised.get("type") != TYPE:
        raise NotGenuine(f"The document is of the type {promised.get('type')!r}, not {TYPE!r}.")
    if rfc8785.dumps(promised) != saved.document.encode("utf-8"):
        raise NotGenuine("The document is not canonical JSON (RFC 8785).")
    for name in sorted(saved.told.keys() & promised.keys()):
        if _comparable(saved.told[name]) != _comparable(promised[name]):
            raise NotGenuine(f"{name!r} beside the document differs from what was signed.")
    return promised, signer


def _signer(saved: Saved, keys: Sequence[Key]) -> str:
    asked = [key for key in keys if saved.key_id is None or key.get("kid") == saved.key_id]
    if not asked:
        named = f"the key {saved.key_id!r}" if saved.key_id is not None else "a key"
        raise CannotTell(f"The key set does not have {named}. Fetch it anew: retired keys stay in it.")
    for key in asked:
        if is_signed_by(key, document=saved.document, signature=saved.signature):
            return str(key.get("kid"))
    raise NotGenuine("The signature is not of this document.")


def _parsed(document: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise NotGenuine("A name stands twice in the document.")
        return dict(pairs)

    try:
        found = json.loads(document, object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise NotGenuine("The document is not JSON.") from None
    if not isinstance(found, dict):
        raise NotGenuine("The document is not a JSON object.")
    return found


def _comparable(value: Any) -> Any:
    """Two ways of writing one moment are one."""
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return value


def _unpad(data: str) -> bytes:
    return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))


def read_saved(file: str, signature_file: str | None = None, key_id: str | None = None) -> Saved:
    """The saved answer, or the pair of document and signature. Raises CannotTell."""
    text = _read(file)
    if signature_file is not None:
        return Saved(document=text.strip(), signature=_read(signature_file).strip(), key_id=key_id, told={})
    answer = _loaded(text, file)
    parts = [answer.get(name) for name in ("document", "signature", "key_id")]
    if not all(isinstance(part, str) for part in parts):
        raise CannotTell(f"{file} does not have document, signature and key_id: is it the answer of the API?")
    told = {name: value for name, value in answer.items() if name not in _OUTSIDE}
    return Saved(document=str(parts[0]), signature=str(parts[1]), key_id=key_id or str(parts[2]), told=told)


def read_keys(file: str) -> list[Key]:
    """The public keys of a saved key set. Raises CannotTell."""
    keys = _loaded(_read(file), file).get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
        raise CannotTell(f"{file} is not a key set.")
    return keys


def _loaded(text: str, file: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise CannotTell(f"{file} is not JSON.") from None
    if not isinstance(found, dict):
        raise CannotTell(f"{file} is not a JSON object.")
    return found


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotTell(f"{file} cannot be read: {error}") from None


def _arguments() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m orders.verify_quote",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("file", help="the saved answer, or the bare document; - is standard input")
    found.add_argument("--keys", help=f"the saved key set; without it {KEYS_NAME} beside FILE")
    found.add_argument("--signature", help="file with the signature in base64: FILE is the bare document")
    found.add_argument("--key-id", help="only this key may have signed")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _arguments().parse_args(arguments)
    try:
        promised, signer = verify(
            read_saved(asked.file, asked.signature, asked.key_id),
            read_keys(asked.keys or str(Path(asked.file).with_name(KEYS_NAME))),
        )
    except NotGenuine as reason:
        sys.stdout.write(f"NOT GENUINE: {reason}\n")
        return NOT_GENUINE
    except CannotTell as reason:
        sys.stderr.write(f"CANNOT TELL: {reason}\n")
        return UNKNOWN
    sys.stdout.write("\n".join(_told(promised, signer)) + "\n")
    return GENUINE


def _told(promised: Mapping[str, Any], signer: str) -> list[str]:
    expires_at = str(promised.get("expires_at"))
    is_over = datetime.fromisoformat(expires_at) <= datetime.now(UTC)
    what = f"{promised.get('lots')} x {promised.get('lot')} for {promised.get('days')} days"
    return [
        f"GENUINE: signed by {promised.get('issuer')} with the key {signer}.",
        f"Quote {promised.get('id')}: {what}, {promised.get('total')} {promised.get('currency')}.",
        f"Its time was over at {expires_at}." if is_over else f"It may be ordered until {expires_at}.",
        *(["It is of a simulated shop: nothing that it offers exists."] if promised.get("simulated") else []),
    ]


if __name__ == "__main__":
    sys.exit(main())
