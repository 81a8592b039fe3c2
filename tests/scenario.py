"""A whole small shop for tests: catalogue, fleet, an offered network, and money that arrives as facts."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncssh
from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.db.models import Model

from billing import offers, pool
from billing.models import BalanceReading, ChainState, PaymentRequest, PaymentView, Transfer, TransferSighting
from billing.services.checkout import CheckoutRequest, CryptoChoice, anonymous_limits, checkout
from billing.services.recompute import recompute
from catalog.models import Accelerator, PriceVersion
from catalog.offers import OptionChoice
from catalog.services.seed import seed_catalog
from catalog.tax import BillTo
from core import clock, outbox
from fleet.keys import PublicKey, parse_keys
from fleet.models import Card, Node
from orders.contact import clean_contact
from orders.models import Order, Quote
from orders.services.place import PlaceRequest
from orders.services.quote import QuoteRequest, make_quote

_numbers = itertools.count(1)


def new_key_line(comment: str = "buyer@example") -> str:
    """A fresh ed25519 public key as one line."""
    key = asyncssh.generate_private_key("ssh-ed25519", comment=comment)
    return key.export_public_key("openssh").decode().strip()


def keys(count: int = 1) -> list[PublicKey]:
    return parse_keys([new_key_line() for _ in range(count)])


def open_shop(*, b200_nodes: int = 1, cards_per_node: int = 8, offered: bool = True) -> None:
    """Seed the catalogue, add B200 and H100 nodes, offer the local network with a checked pool."""
    if not PriceVersion.objects.exists():
        _seed()
    for number in range(b200_nodes):
        add_node(f"b200-n{number:02d}", "b200-180", cards_per_node)
    add_node("h100-n00", "h100-sxm-80", 8)
    if offered:
        offer_network()


_seeded: dict[str, list[list[Model]]] = {}


def _seed() -> None:
    """The catalogue as seed_catalog makes it; after the first time its rows are put back as they were."""
    rows = _seeded.get(settings.CURRENCY)
    if rows is None:
        seed_catalog()
        kinds = apps.get_app_config("catalog").get_models(include_auto_created=True)
        _seeded[settings.CURRENCY] = [list(kind._default_manager.all()) for kind in _parents_first(kinds)]
        return
    for kind in rows:
        for row in kind:
            if isinstance(row, PriceVersion):
                row.published_at = clock.now()
        if kind:
            type(kind[0])._default_manager.bulk_create(kind)


def _parents_first(kinds: Iterable[type[Model]]) -> list[type[Model]]:
    """A row comes after those that it points to."""
    left, done = list(kinds), []
    while left:
        kind = next(
            kind
            for kind in left
            if not any(f.is_relation and f.many_to_one and f.related_model in left for f in kind._meta.fields)
        )
        left.remove(kind)
        done.append(kind)
    return done


def add_node(name: str, accelerator: str, cards: int, *, driver: str = "580.65") -> Node:
    row = Accelerator.objects.get(slug=accelerator)
    node = Node.objects.create(
        name=name, site="test", accelerator=row, host_arch=row.host_arch, driver_version=driver
    )
    Card.objects.bulk_create(Card(node=node, index=index, serial=f"{name}-{index}") for index in range(cards))
    return node


def offer_network(slug: str = "local", *, block: int = 100) -> None:
    """As after a worker's first round: network verified, pool derived and checked clean."""
    network = offers.networks()[slug]
    moment = clock.now()
    ChainState.objects.update_or_create(
        network=slug,
        defaults={
            "chain_id": network.chain_id,
            "offered": True,
            "verified_at": clock.system_now(),
            "head_number": block,
            "head_hash": "0x" + "00" * 32,
            "head_time": moment,
            "settled_number": block - 2,
            "settled_hash": "0x" + "01" * 32,
            "settled_time": moment,
            "checked_at": clock.system_now(),
            "checked_product_at": moment,
        },
    )
    pool.derive_missing()
    due = pool.due_for_check(network=slug)
    pool.record_checks(network=slug, block_number=block, dirty={}, addresses=due)


def quote(**changes: Any) -> Quote:
    """One lot of two B200 for three days, unless told otherwise."""
    values: dict[str, Any] = {
        "lot": "b200-180x2",
        "lots": 1,
        "days": 3,
        "image": "pt-cu128",
        "options": [],
        "starts_at": None,
        "bill_to": BillTo(country="DE", kind="consumer", vat_id=None),
        "limits": anonymous_limits(),
    } | changes
    values["options"] = [
        choice if isinstance(choice, OptionChoice) else OptionChoice(*choice) for choice in values["options"]
    ]
    return make_quote(QuoteRequest(**values))


def place_request(row: Quote, **changes: Any) -> PlaceRequest:
    number = next(_numbers)
    values: dict[str, Any] = {
        "quote_id": row.public_id,
        "owner": f"web:test-{number}",
        "prefix": f"10.0.{number % 250}.0/24",
        "limits": anonymous_limits(),
        "contact": clean_contact(name="Ada", email="ada@example.com", company="", language="en"),
        "bill_to": BillTo(**row.bill_to),
        "keys": keys(),
        "terms_version": settings.TERMS_VERSION,
        "mail_to": "ada@example.com",
        "mail_language": "en",
        "notify": Order.Notify.BUYER,
    } | changes
    return PlaceRequest(**values)


def order(row: Quote | None = None, *, replaces: str | None = None, **changes: Any) -> Order:
    """A placed order with its payment request."""
    place = place_request(row or quote(), **changes)
    return checkout(CheckoutRequest(place=place, pay_with=CryptoChoice("local", "USDC"), replaces=replaces))


@dataclass
class Chain:
    """A chain that a test writes block by block, as facts: no node, no network."""

    number: int = 101
    time: datetime = field(default_factory=clock.now)
    finality: int = 2
    _times: dict[int, datetime] = field(default_factory=dict)

    def hash_of(self, number: int, fork: int = 0) -> str:
        return f"0x{number:060x}{fork:04x}"

    def advance(self, *, to: datetime | None = None, blocks: int = 1) -> None:
        """Mine blocks; the last one at `to`."""
        for _ in range(blocks):
            self.number += 1
            self.time = (to or self.time + timedelta(seconds=2)).astimezone(UTC)
            self._times[self.number] = self.time

    def time_of(self, number: int) -> datetime:
        return self._times.get(number, self.time)

    def send(self, payment: PaymentRequest, units: int, *, fork: int = 0) -> Transfer:
        """A transfer in the current block, seen but not settled; call `look` to apply it."""
        return Transfer.objects.create(
            payment=payment,
            chain_id=payment.crypto.chain_id,
            asset_contract=payment.asset_contract,
            tx_hash=f"0x{next(_numbers):064x}",
            ordinal=0,
            block_number=self.number,
            block_hash=self.hash_of(self.number, fork),
            block_time=self.time,
            sender="0x" + "11" * 20,
            units=units,
            found_at=clock.now(),
        )

    def look(
        self,
        payment: PaymentRequest,
        *,
        settled_number: int | None = None,
        native: int = 0,
        native_settled: int | None = None,
    ) -> PaymentView:
        """What the worker does in a round: readings at head and settled block, then recompute."""
        settled = self.number - self.finality if settled_number is None else settled_number
        living = list(Transfer.objects.in_chain().filter(payment=payment))
        with transaction.atomic():
            self._read(payment, "head", self.number, sum(row.units for row in living))
            self._read(
                payment, "settled", settled, sum(row.units for row in living if row.block_number <= settled)
            )
            if native:
                self._read(payment, "head", self.number, native, contract="")
                final = native if native_settled is None else native_settled
                self._read(payment, "settled", settled, final, contract="")
            view = recompute(order_id=payment.order.public_id, block=(self.number, self.time))
        assert view is not None
        return view

    def settle(self, payment: PaymentRequest) -> PaymentView:
        """Enough blocks for finality, then a look."""
        self.advance(blocks=self.finality)
        return self.look(payment)

    def drop(self, transfer: Transfer) -> None:
        """A reorg took the block of this transfer."""
        TransferSighting.objects.create(transfer=transfer, in_chain=False, found_at=clock.now())

    def _read(
        self, payment: PaymentRequest, kind: str, number: int, units: int, contract: str | None = None
    ) -> None:
        BalanceReading.objects.create(
            payment=payment,
            chain_id=payment.crypto.chain_id,
            asset_contract=payment.asset_contract if contract is None else contract,
            kind=kind,
            block_number=number,
            block_hash=self.hash_of(number),
            block_time=self.time_of(number),
            units=units,
            read_at=clock.now(),
        )


def pay(row: Order, *, units: int | None = None, chain: Chain | None = None) -> PaymentView:
    """The whole sum arrives and settles; event handlers run."""
    chain = chain or Chain()
    payment = row.payment
    chain.advance()
    chain.send(payment, payment.crypto.due_units if units is None else units)
    chain.look(payment)
    view = chain.settle(payment)
    outbox.drain()
    return view
