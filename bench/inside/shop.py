"""A shop to measure: catalogue, nodes of one accelerator, an offered network with a filled pool, history."""

from datetime import timedelta

import asyncssh
from django.conf import settings
from django.db import connection

from billing import offers, pool
from billing.models import ChainState
from billing.services.checkout import CryptoChoice, anonymous_limits
from catalog.models import Accelerator
from catalog.services.seed import seed_catalog
from catalog.tax import BillTo
from core import clock
from fleet.keys import parse_keys
from fleet.models import Card, Node
from orders.contact import clean_contact
from orders.models import Order
from orders.services.place import PlaceRequest
from orders.services.quote import QuoteRequest, make_quote

ACCELERATOR = "b200-180"
CARDS_PER_NODE = 8
BILL_TO = BillTo(country="DE", kind="consumer", vat_id=None)


def open_shop(*, nodes: int, addresses: int, network: str = "local", accelerator: str = ACCELERATOR) -> None:
    """Seed the catalogue, add nodes of eight cards, offer the network with so many checked addresses."""
    seed_catalog()
    add_nodes(nodes, accelerator=accelerator)
    settings.ADDRESS_POOL_SIZE = addresses
    _offer(network)
    fill_pool(addresses, network=network)


def add_nodes(count: int, *, accelerator: str = ACCELERATOR) -> None:
    """Nodes of eight sound cards each."""
    model = Accelerator.objects.get(slug=accelerator)
    first = Node.objects.count()
    nodes = Node.objects.bulk_create(
        Node(
            name=f"bench-{number:04d}",
            site="bench",
            accelerator=model,
            host_arch=model.host_arch,
            driver_version="580.95.05",
        )
        for number in range(first, first + count)
    )
    Card.objects.bulk_create(
        Card(node=node, index=index, serial=f"{node.name}-{index}")
        for node in nodes
        for index in range(CARDS_PER_NODE)
    )


def fill_pool(count: int, *, network: str = "local") -> None:
    """So many pooled addresses with a clean look of this moment, as a worker leaves them."""
    settings.ADDRESS_POOL_SIZE = count
    pool.derive_missing()
    while due := pool.due_for_check(network=network, limit=1000):
        pool.record_checks(network=network, block_number=100, dirty={}, addresses=due)


def quotes(count: int, *, lot: str = f"{ACCELERATOR}x2", lots: int = 1, days: int = 3) -> list[str]:
    """So many open quotes; their public ids."""
    request = QuoteRequest(
        lot=lot,
        lots=lots,
        days=days,
        image="pt-cu128",
        options=(),
        starts_at=None,
        bill_to=BILL_TO,
        limits=anonymous_limits(),
    )
    return [make_quote(request).public_id for _number in range(count)]


def acceptance(quote_id: str, number: int) -> tuple[PlaceRequest, CryptoChoice]:
    """Buyer `number` takes a quote: an owner, a network and a key of his own."""
    contact = clean_contact(
        name="Ada Lovelace", email=f"buyer{number}@example.com", company="", language="en"
    )
    place = PlaceRequest(
        quote_id=quote_id,
        owner=f"web:bench-{number}",
        prefix=f"10.{number // 250}.{number % 250}.0/24",
        limits=anonymous_limits(),
        contact=contact,
        bill_to=BILL_TO,
        keys=parse_keys(asyncssh.generate_private_key("ssh-ed25519").export_public_key("openssh").decode()),
        terms_version=settings.TERMS_VERSION,
        mail_to=contact.email,
        mail_language="en",
        notify=Order.Notify.BUYER,
    )
    return place, CryptoChoice("local", "USDC")


def add_history(count: int) -> None:
    """So many reservations of the past, two cards each, released: what years of sales leave behind."""
    with connection.cursor() as cursor:
        cursor.execute(_PAST_HOLDS, {"count": count // 2, "before": clock.now() - timedelta(days=1)})
        cursor.execute(_PAST_RESERVATIONS)
    analyze()


def add_leases(*, share: int) -> None:
    """Of each ten cards `share` are leased now, for four more days."""
    with connection.cursor() as cursor:
        cursor.execute(_LEASED_HOLDS, {"now": clock.now(), "share": share})
        cursor.execute(_LEASED_RESERVATIONS)


def analyze() -> None:
    """As autovacuum does within a minute of such a change."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _offer(slug: str) -> None:
    network = offers.networks()[slug]
    moment = clock.now()
    ChainState.objects.update_or_create(
        network=slug,
        defaults={
            "chain_id": network.chain_id,
            "offered": True,
            "verified_at": clock.system_now(),
            "head_number": 100,
            "head_hash": "0x" + "00" * 32,
            "head_time": moment,
            "settled_number": 98,
            "settled_hash": "0x" + "01" * 32,
            "settled_time": moment,
            "checked_at": clock.system_now(),
            "checked_product_at": moment,
        },
    )


_LEASED_HOLDS = """
INSERT INTO fleet_hold (ref, owner, prefix, lot_id, lots, card_count, driver_minimum, term_seconds,
                        placed_at, expires_at, release_at, committed_at)
SELECT 'leased-' || id, 'web:leased-' || id, '', (SELECT min(id) FROM catalog_lot), 1, 1, '', 432000,
       %(now)s - interval '1 day', %(now)s, %(now)s, %(now)s - interval '1 day'
FROM fleet_card WHERE mod(id, 10) < %(share)s
"""
_LEASED_RESERVATIONS = """
INSERT INTO fleet_reservation (card_id, hold_id, period, status)
SELECT substr(ref, 8)::bigint, id, tstzrange(placed_at, placed_at + interval '5 days'), 'committed'
FROM fleet_hold WHERE starts_with(ref, 'leased-')
"""
_PAST_HOLDS = """
INSERT INTO fleet_hold (ref, owner, prefix, lot_id, lots, card_count, driver_minimum, term_seconds,
                        placed_at, expires_at, release_at, committed_at, released_at)
SELECT 'past-' || number, 'web:past-' || number, '198.51.' || mod(number, 250) || '.0/24',
       (SELECT min(id) FROM catalog_lot), 1, 2, '', 259200,
       at, at + interval '1 hour', at + interval '3 hours', at + interval '10 minutes', at + interval '4 days'
FROM (SELECT number, %(before)s - interval '5 days' - number * interval '20 minutes' AS at
      FROM generate_series(1, %(count)s) AS number) AS past
"""
# Two neighbouring cards of a node, which follow each other in the keys.
_PAST_RESERVATIONS = """
INSERT INTO fleet_reservation (card_id, hold_id, period, status)
SELECT card.id, hold.id, tstzrange(hold.placed_at, hold.placed_at + interval '4 days'), 'released'
FROM (SELECT id, placed_at, row_number() OVER (ORDER BY id) - 1 AS number FROM fleet_hold
      WHERE starts_with(ref, 'past-')) AS hold
CROSS JOIN generate_series(0, 1) AS part
JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM fleet_card) AS card
  ON card.place = mod(hold.number * 2 + part, (SELECT count(*) FROM fleet_card))
"""
