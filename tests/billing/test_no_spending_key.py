"""No key that could spend money lies in the settings, in the environment or in the database."""

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from psycopg import sql

from anchorgpu.private_keys import private_key_in
from billing.services.refund_destination import confirm_destination
from billing.services.send_refund import mark_sent
from core import outbox
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.billing import money

_EXTENDED = re.compile(r"\b[xyzt]prv[1-9A-HJ-NP-Za-km-z]{50,}")
_HEX_KEY = re.compile(r"(?<![0-9a-fA-Fx])(?:0x)?[0-9a-fA-F]{64}(?![0-9a-fA-F])")
# 32 bytes in hex that are public: hashes of blocks and transactions, digests.
_PUBLIC_COLUMNS = re.compile(r"hash|fingerprint|digest|sha256|account|token|session_data|session_key")


def _texts(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict) and depth < 5:
        for key, part in value.items():
            yield from _texts(f"{name}.{key}", part, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset) and depth < 5:
        for part in value:
            yield from _texts(name, part, depth + 1)


def _columns() -> Iterator[tuple[str, str]]:
    """Every text, JSON and binary value of every table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' "
            "AND data_type IN ('text', 'character varying', 'jsonb', 'bytea', 'ARRAY')"
        )
        for table, column in cursor.fetchall():
            query = sql.SQL("SELECT {column}::text FROM {table} WHERE {column} IS NOT NULL")
            cursor.execute(query.format(column=sql.Identifier(column), table=sql.Identifier(table)))
            for (value,) in cursor.fetchall():
                yield f"{table}.{column}", str(value)


def _finds(name: str, text: str, *, public: bool) -> bool:
    return bool(private_key_in(text) or _EXTENDED.search(text) or (not public and _HEX_KEY.search(text)))


def test_the_search_finds_what_it_looks_for() -> None:
    words = "test test test test test test test test test test test junk"
    for text in ("xprv" + "9" * 107, "0x" + "ab" * 32, "ab" * 32, words):
        assert _finds("x", text, public=False), text
    assert not _finds("x", "xpub" + "9" * 107, public=False)
    assert not _finds("x", "0x" + "ab" * 20, public=False)


def test_settings_and_environment_hold_no_spending_key() -> None:
    texts = [
        pair for name in dir(settings) if name.isupper() for pair in _texts(name, getattr(settings, name))
    ]
    texts += [(name, value) for name, value in os.environ.items() if not name.startswith("PYTEST")]
    assert len(texts) > 50
    assert [name for name, text in texts if _finds(name, text, public=False)] == []


@pytest.mark.django_db
@pytest.mark.usefixtures("shop")
def test_the_database_holds_no_spending_key(order: Order) -> None:
    """After a payment, a cancel and a refund: in no column of no table."""
    scenario.pay(order)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    row = order.refunds.get()
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    mark_sent(refund_id=row.pk, actor="anna", reason="sent", transaction_hash="0x" + "ab" * 32)
    columns = list(_columns())
    assert len({name for name, _ in columns}) > 60
    # Payloads and mails tell the hash of a transaction: it is 0x and 64 digits, and it is the one that is known.
    known = {"0x" + "ab" * 32, *(transfer.tx_hash for transfer in order.payment.transfers.all())}
    found = []
    for name, text in columns:
        rest = re.sub("|".join(known), "", text)
        if _finds(name, rest, public=bool(_PUBLIC_COLUMNS.search(name))):
            found.append(name)
    assert found == []
