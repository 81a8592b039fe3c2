"""A key as the pages show it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import pgettext

from partners.key_selectors import keys_of
from partners.models import ApiKey, Partner
from partners.scopes import Scope

# Keys that are over, shown below those that work.
_MAX_SHOWN = 100


@dataclass(frozen=True)
class KeyRow:
    key: ApiKey
    word: str
    tone: str
    icon: str
    scopes: list[str]

    @property
    def works(self) -> bool:
        return self.tone == "good"


def key_rows(partner: Partner, moment: datetime) -> list[KeyRow]:
    """Those that work first, each group newest first. 1 query."""
    rows = [key_row(key, moment) for key in keys_of(partner)[:_MAX_SHOWN]]
    return sorted(rows, key=lambda row: not row.works)


def key_row(key: ApiKey, moment: datetime) -> KeyRow:
    if key.revoked_at is not None:
        state = (pgettext("key", "revoked"), "bad", "stop")
    elif key.is_expired(moment):
        state = (pgettext("key", "expired"), "", "clock")
    else:
        state = (pgettext("key", "works"), "good", "check")
    return KeyRow(key, *state, scopes=_scope_words(key.scopes))


def _scope_words(scopes: Iterable[str]) -> list[str]:
    return [str(Scope(scope).label) for scope in scopes]
