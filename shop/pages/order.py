"""Everything that the page of an order shows, in one frozen value."""

from dataclasses import dataclass
from functools import cached_property

from billing.card_selectors import CardState
from billing.issued import Issued, documents_of_rows
from billing.lifecycle import PaymentStatus
from billing.order_rows import OrderRows
from billing.selectors import PaymentState, TransferSeen, seen_of_rows
from billing.services.demo_pay import demo_pay_offered
from core import clock
from core.qr import qr_path
from fleet.lease_rows import LeaseRows, lease_rows
from fleet.models import Lease
from fleet.selectors import Access
from orders.lifecycle import BEFORE_START, OrderStatus
from orders.models import Order
from shop.pages.card_words import with_card
from shop.pages.live import LivePart, live_part
from shop.pages.money_words import with_money
from shop.pages.notices import Notice, notices_for
from shop.pages.order_access import (
    ExportPart,
    MembersPart,
    access_part,
    export_part,
    members_part,
    ssh_command,
    ssh_config,
    wipe_method,
)
from shop.pages.order_degraded import DegradedPart, degraded_part
from shop.pages.order_extension import ExtensionPart, extension_part, words_of_order
from shop.pages.order_money import MoneyPart, money_part
from shop.pages.phase import OPEN_TO_MONEY, Phase
from shop.pages.settling import final_when
from shop.pages.term import TermPart, term_part
from shop.pages.timeline import Entry, timeline_of
from shop.pages.wording import Situation, Words, words_for

# Money may be on its way that the buyer can point us to.
MAY_HAVE_SENT = OPEN_TO_MONEY | {Phase.CHECKING, Phase.EXPIRED, Phase.CANCELLED}


@dataclass(frozen=True)
class OrderPage:
    """`live`: the part that looks for news by itself."""

    order: Order
    live: LivePart
    access: Access | None
    words: Words
    notices: list[Notice]
    transfers: tuple[TransferSeen, ...]
    timeline: list[Entry]
    members: MembersPart | None
    export: ExportPart | None
    degraded: DegradedPart | None
    extension: ExtensionPart | None
    money: MoneyPart | None
    documents: tuple[Issued, ...]
    keys: tuple[str, ...]
    seconds_left: int
    term: TermPart | None
    qr: str
    qr_size: int
    asks_for_money: bool
    may_claim: bool
    may_change: bool
    may_cancel: bool
    demo_pay: bool

    @property
    def payment(self) -> PaymentState | None:
        return self.live.payment

    @property
    def card(self) -> CardState | None:
        return self.live.card

    @property
    def lease(self) -> Lease | None:
        return self.live.lease

    @property
    def phase(self) -> Phase:
        return self.live.phase

    @property
    def mark(self) -> str:
        return self.live.mark

    @property
    def poll_seconds(self) -> int:
        return self.live.poll_seconds

    @property
    def ssh_command(self) -> str:
        """What is typed to log in."""
        return ssh_command(self.access) if self.access else ""

    @property
    def ssh_config(self) -> str:
        """A block for ~/.ssh/config; the host key is pinned by the known_hosts line beside it."""
        return ssh_config(self.access, self.members.members) if self.access and self.members else ""

    @property
    def final_when(self) -> str:
        """When a transfer counts for good on the chosen network."""
        rule = self.payment.settle if self.payment else None
        return final_when(rule) if rule is not None else ""

    @cached_property
    def uri_code(self) -> tuple[str, int]:
        """The payment link as a QR code, beside the bare address (C37)."""
        return qr_path(self.payment.uri) if self.payment and self.payment.uri else ("", 0)

    @property
    def wipe_method(self) -> str:
        """How the disks were wiped, in words."""
        return wipe_method(self.lease)


def order_page(rows: OrderRows) -> OrderPage:
    """Compose the page. At most six queries beside the one that read `rows`, whatever the order's state."""
    order = rows.order
    found = lease_rows(order.public_id) if order.paid_at is not None else None
    lease = found.lease if found is not None else None
    live = live_part(rows, lease)
    payment, card, phase = live.payment, live.card, live.phase
    asks = phase in OPEN_TO_MONEY
    path, side = qr_path(payment.address) if payment is not None and asks and payment.address else ("", 0)
    moment = clock.now()
    export = export_part(order, lease, moment)
    money = money_part(rows, payment)
    words = with_card(
        words_of_order(
            words_for(phase, Situation(order, payment, lease)), order, phase, is_reversed=rows.is_reversed
        ),
        phase,
        card,
    )
    return OrderPage(
        order=order,
        live=live,
        access=access_part(found) if found is not None and phase == Phase.ACTIVE else None,
        # The words of an extension that failed say what holds of the lease itself.
        words=words
        if order.extends_id and phase == Phase.FAILED
        else with_money(words, phase, payment, money),
        notices=notices_for(payment, phase, money),
        transfers=_transfers(rows, payment),
        timeline=timeline_of(order.public_id),
        members=members_part(found, moment) if found is not None else None,
        export=export,
        degraded=degraded_part(found) if found is not None else None,
        extension=extension_part(rows, found),
        money=money,
        documents=documents_of_rows(rows.documents),
        seconds_left=max(0, int((order.hold_expires_at - moment).total_seconds())),
        term=term_part(lease, export, moment),
        keys=_keys(order, found),
        qr=path,
        qr_size=side,
        asks_for_money=asks,
        may_claim=phase in MAY_HAVE_SENT and payment is not None and _may_claim(payment),
        may_change=asks and payment is not None and not _has_money(payment) and order.extends_id is None,
        # A late delivery has a choice of its own.
        may_cancel=order.status in BEFORE_START and phase not in (Phase.SEEN, Phase.FINAL, Phase.LATE),
        demo_pay=asks and payment is not None and demo_pay_offered(payment.chain_id),
    )


def _keys(order: Order, found: LeaseRows | None) -> tuple[str, ...]:
    """Fingerprints of the keys that were ordered, until the lease has a part of its own for them."""
    if found is not None or order.status not in (OrderStatus.AWAITING_PAYMENT, OrderStatus.PAID):
        return ()
    return tuple(key["fingerprint"] for key in order.ssh_keys)


def _transfers(rows: OrderRows, payment: PaymentState | None) -> tuple[TransferSeen, ...]:
    if rows.view is None or payment is None or not _has_money(payment):
        return ()
    return seen_of_rows(rows.view.payment, rows.transfers, settled_number=rows.settled_number)


def _may_claim(payment: PaymentState) -> bool:
    """A transfer can be pointed to where there is an address and the sum is not there yet."""
    return payment.takes_crypto and payment.status != PaymentStatus.SETTLED and payment.still_due > 0


def _has_money(payment: PaymentState) -> bool:
    return bool(payment.received) or bool(payment.flags)
