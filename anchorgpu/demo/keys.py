"""Secrets of an installation that nobody else uses: made once, written with mode 600."""

import base64
import json
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from bip_utils import Bip44, Bip44Coins
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from anchorgpu.env import DEMO_SECRET_PREFIX


def write_private(path: Path, text: str) -> None:
    """Writes the file so that no other user can read it, and never halfway."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(
        os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(text)
    unfinished.replace(path)


def demo_secret_key() -> str:
    return DEMO_SECRET_PREFIX + secrets.token_urlsafe(48)


def quote_keys() -> str:
    """A JWK set with one Ed25519 private key; its id carries the day, so that a rotation can be read off."""
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    private = key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    day = datetime.now(UTC).date().isoformat()
    jwk = {
        "kty": "OKP",
        "crv": "Ed25519",
        "kid": f"{day}-a",
        "x": _base64url(public),
        "d": _base64url(private),
    }
    return json.dumps({"keys": [jwk]}, indent=2) + "\n"


def ssh_host_key() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode("ascii")


def throwaway_xpub() -> str:
    """The account xpub of a random seed that is forgotten at once: nobody can move what is sent to it."""
    account = Bip44.FromSeed(os.urandom(64), Bip44Coins.ETHEREUM).Purpose().Coin().Account(0)
    return str(account.PublicKey().ToExtended())


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")
