"""Signatures of quotes: Ed25519 over canonical JSON (RFC 8785). orders.verify_quote checks one without the shop."""

import base64
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings


@dataclass(frozen=True)
class Signed:
    """`document` is the canonical text that was signed, `signature` base64, `key_id` names the key in the set."""

    document: str
    signature: str
    key_id: str


def _unpad(data: str) -> bytes:
    return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))


@lru_cache(maxsize=4)
def _key_set(path: str, modified: float) -> list[dict[str, str]]:
    keys: list[dict[str, str]] = json.loads(Path(path).read_text(encoding="utf-8"))["keys"]
    if not any("d" in key for key in keys):
        raise ValueError(f"{path} holds no signing key.")
    return keys


def _keys() -> list[dict[str, str]]:
    path = Path(settings.QUOTE_KEYS_FILE)
    return _key_set(str(path), path.stat().st_mtime)


def sign(payload: dict[str, Any]) -> Signed:
    """Sign with the newest key (the first in the file that has its private part)."""
    key = next(key for key in _keys() if "d" in key)
    document = rfc8785.dumps(payload)
    signature = Ed25519PrivateKey.from_private_bytes(_unpad(key["d"])).sign(document)
    return Signed(
        document=document.decode("utf-8"),
        signature=base64.b64encode(signature).decode("ascii"),
        key_id=key["kid"],
    )


def public_key_set() -> dict[str, list[dict[str, str]]]:
    """The JWK set to publish: public parts of all keys, retired ones included."""
    return {
        "keys": [
            {"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": key["kid"], "x": key["x"]}
            for key in _keys()
        ]
    }
