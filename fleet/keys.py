"""SSH public keys from people: parsed by a library and rebuilt from their parts (DESIGN rule 14)."""

import re
import unicodedata
from dataclasses import dataclass

import asyncssh
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core.errors import Refusal
from core.text import check_storable

MAX_KEYS = 10
# An RSA key of 16,384 bits is 2,900 characters; nothing longer is a key.
MAX_TEXT = 40_000
MAX_LINE = 8_000
MAX_COMMENT = 60
# NIST SP 800-131A: RSA under 2,048 bits is no longer acceptable; we ask for 3,072 as current guidance does.
MIN_RSA_BITS = 3072
ALGORITHMS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
)
_QUOTES = "\"'“”„‘’«»`"
_COMMENT_ALLOWED = re.compile(r"[^\w@.:+\- ]")


@dataclass(frozen=True)
class PublicKey:
    """One accepted key: the algorithm name, its base64 data, a cleaned comment and the SHA256 fingerprint."""

    algorithm: str
    data: str
    comment: str
    fingerprint: str

    @property
    def line(self) -> str:
        return f"{self.algorithm} {self.data}" + (f" {self.comment}" if self.comment else "")


def parse_keys(text: str | list[str], *, field: str = "ssh_keys") -> list[PublicKey]:
    """All keys of a text (one a line) or of a list of texts.

    One bad line refuses all, with its number. Raises Refusal(key_rejected). The order is kept.
    """
    source = "\n".join(text) if isinstance(text, list) else text
    check_storable(source, field=field)
    if len(source) > MAX_TEXT:
        raise _rejected(field, _("This is too long for SSH public keys."))
    if "PRIVATE KEY" in source:
        raise _rejected(
            field,
            _("This is a private key. We have not stored it, but treat it as leaked and make a new pair."),
        )
    lines = _lines(source)
    if not lines:
        raise _rejected(field, _("At least one SSH public key is needed."))
    if len(lines) > MAX_KEYS:
        raise _rejected(
            field,
            ngettext_lazy("Up to %(limit)s key is possible.", "Up to %(limit)s keys are possible.", "limit"),
            limit=MAX_KEYS,
        )
    keys: list[PublicKey] = []
    for number, line in lines:
        key = _parse_line(line, number, field)
        if any(key.fingerprint == other.fingerprint for other in keys):
            raise _rejected(field, _("Line %(line)s repeats a key that is already there."), line=number)
        keys.append(key)
    return keys


def _lines(source: str) -> list[tuple[int, str]]:
    """Lines that hold something, each with the number that the person sees."""
    text = source.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "").replace("\u00a0", " ")
    stripped = [" ".join(line.split()).strip(_QUOTES + " ") for line in text.split("\n")]
    return _unwrap([(number, line) for number, line in enumerate(stripped, start=1)])


def _unwrap(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Join a key that was wrapped (at 64 columns, say): lines of pure base64 after a line that starts a key."""
    joined: list[tuple[int, str]] = []
    for number, line in lines:
        head = joined[-1][1] if joined else ""
        if line and head.split(" ", 1)[0] in ALGORITHMS and _is_continuation(head, line):
            joined[-1] = (joined[-1][0], head + line)
        elif line:
            joined.append((number, line))
    return joined


def _is_continuation(head: str, line: str) -> bool:
    """Base64 data whose declared length is not reached yet goes on in the next line."""
    parts = head.split(" ")
    first = line.split(" ", 1)[0]
    return (
        len(parts) == 2
        and re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", first) is not None
        and not _parses(f"{parts[0]} {parts[1]}")
    )


def _parses(line: str) -> bool:
    try:
        asyncssh.import_public_key(line)
    except (asyncssh.KeyImportError, ValueError):
        return False
    return True


def _parse_line(line: str, number: int, field: str) -> PublicKey:
    parts = line.split(" ", 2)
    if len(line) > MAX_LINE:
        raise _rejected(field, _("Line %(line)s is too long for a key."), line=number)
    if parts[0] == "ssh-dss":
        raise _rejected(field, _("Line %(line)s is a DSA key, which is too weak."), line=number)
    if parts[0] not in ALGORITHMS or len(parts) < 2:
        raise _rejected(
            field,
            _(
                "Line %(line)s is not a public key alone. It must start with its type, for example ssh-ed25519; "
                "options before it are not accepted."
            ),
            line=number,
        )
    try:
        key = asyncssh.import_public_key(f"{parts[0]} {parts[1]}")
    except (asyncssh.KeyImportError, ValueError) as error:
        raise _rejected(field, _("Line %(line)s holds a key that is broken."), line=number) from error
    algorithm = key.get_algorithm()
    if algorithm != parts[0]:
        raise _rejected(field, _("Line %(line)s says another key type than its data holds."), line=number)
    if isinstance(key.pyca_key, RSAPublicKey) and key.pyca_key.key_size < MIN_RSA_BITS:
        raise _rejected(
            field,
            _("Line %(line)s is an RSA key of fewer than %(bits)s bits, which is too weak."),
            line=number,
            bits=MIN_RSA_BITS,
        )
    data = key.export_public_key("openssh").decode("ascii").split()[1]
    return PublicKey(
        algorithm=algorithm,
        data=data,
        comment=_clean_comment(parts[2] if len(parts) > 2 else ""),
        fingerprint=key.get_fingerprint("sha256"),
    )


def _clean_comment(comment: str) -> str:
    """Letters, digits and a few signs: nothing that a shell, a template or a configuration file could read."""
    return _COMMENT_ALLOWED.sub("", unicodedata.normalize("NFC", comment))[:MAX_COMMENT].strip()


def _rejected(field: str, message: object, **params: object) -> Refusal:
    return Refusal(code="key_rejected", message=message, field=field, params=params)  # type: ignore[arg-type]
