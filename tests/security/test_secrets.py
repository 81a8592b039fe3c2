"""What opens something by being known cannot be guessed: 128 random bits and more, each sign of them used."""

import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.util import random_hex

from core.services.second_factor import RECOVERY_CODES
from core.staff_login import MAX_PER_ACCOUNT, WINDOW
from orders import ids
from partners import key_text, webhook_signature
from shop import visitor

# Each maker, what stands before the secret, and how many random bits it must hold.
SECRETS: dict[str, tuple[Callable[[], str], str, int]] = {
    "order page": (ids.page_token, "", 256),
    "quote": (ids.quote_id, "qt_", 128),
    "order number": (ids.order_id, "ord_", 128),
    "API key": (key_text.new_key_text, "agk_test_", 256),
    "webhook secret": (webhook_signature.new_secret, "whsec_", 192),
    "browser": (visitor.new_owner, "web:", 128),
    "authenticator": (random_hex, "", 160),
}


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_a_secret_holds_enough_random_bits(name: str) -> None:
    make, before, bits = SECRETS[name]
    made = [make().removeprefix(before).rstrip("=") for _number in range(300)]
    assert len(set(made)) == 300
    places = list(zip(*made, strict=True))
    # The bits that the signs of a place can carry, as seen in 300 of them; the last sign of base64 carries fewer.
    seen = sum(len({*place}).bit_length() - (len({*place}) & (len({*place}) - 1) == 0) for place in places)
    assert seen >= bits, (name, seen)


def test_what_is_short_is_bounded_instead() -> None:
    """A recovery code is typed by hand: its 40 bits stand behind a bound on tries and are used up."""
    codes = {StaticToken.random_token() for _number in range(100)}
    assert len(codes) == 100
    assert all(re.fullmatch(r"[a-z2-7]{8,}", code) for code in codes)
    tries_a_year = MAX_PER_ACCOUNT * 365 * 86400 / WINDOW.total_seconds()
    shortest = min(map(len, codes))
    assert 32**shortest / RECOVERY_CODES / tries_a_year > 100_000


def test_keys_and_links_are_stored_as_digests_and_passwords_slowly() -> None:
    text = key_text.new_key_text()
    assert key_text.digest(text) not in text
    assert re.fullmatch(r"[0-9a-f]{64}", key_text.digest(text))
    assert settings.PASSWORD_HASHERS[0].endswith("PBKDF2PasswordHasher")
